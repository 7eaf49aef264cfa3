import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TargetKind } from "./import-resolver.ts";

/** An import that matches all conditions is forbidden. Paths are regular expressions for paths of the repository. */
export interface ImportRule {
  readonly name: string;
  readonly from?: { readonly path?: string; readonly pathNot?: readonly string[] };
  /** `$1` stands for the first matched group of the importing file's path. */
  readonly to: {
    readonly path?: string;
    readonly pathNot?: readonly string[];
    readonly kinds?: readonly TargetKind[];
  };
  /** Types may be imported. */
  readonly exceptTypes?: boolean;
}

const TEST_FILES = "\\.test\\.ts$";
/** Tests and files that only tests use. */
const TESTS = "\\.test\\.ts$|/testing/|/test-[^/]+\\.ts$";
const PACKAGES = "^packages/[^/]+/";

/** The packages that each package may import, besides itself and, in its tests, the testkit. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  meter: [],
  kernel: ["contracts"],
  verify: ["contracts"],
  host: ["contracts", "kernel", "meter"],
  tools: ["contracts", "kernel"],
  agent: ["contracts", "kernel"],
  testkit: ["contracts", "kernel"],
  server: ["contracts", "kernel", "agent"],
  narthex: ["contracts", "kernel", "verify", "host", "tools", "agent", "server"],
};

const DIRECTIONS = Object.entries(MAY_IMPORT).map(
  ([name, others]): ImportRule => ({
    name: `direction-${name}`,
    from: { path: `^packages/${name}/`, pathNot: [TESTS] },
    to: { path: PACKAGES, pathNot: [`^packages/(${[name, "testkit", ...others].join("|")})/`] },
  }),
);

/**
 * A stage takes the result of the previous stages as a value and returns the next one; only `run-call.ts` knows the
 * order. A stage does not import another one, except for its types and the check of its seal.
 * SECURITY: the exceptions check a seal: a permitted call in grant, a grant in invoke. Each seal is checked in the only
 * file that can create it.
 */
const SEALS = { grant: "decide/decide\\.ts$", invoke: "grant/grant\\.ts$" };
const STAGES = [
  { name: "stages-apart", from: `call/(?!(?:${Object.keys(SEALS).join("|")})/)([^/]+)/`, own: "call/$1/" },
  ...Object.entries(SEALS).map(([stage, seal]) => ({
    name: `stages-apart-${stage}`,
    from: `call/${stage}/`,
    own: `call/(?:${stage}/|${seal})`,
  })),
].map(
  ({ name, from, own }): ImportRule => ({
    name,
    from: { path: `^packages/kernel/src/${from}`, pathNot: [TESTS] },
    to: { path: "^packages/kernel/src/call/[^/]+/", pathNot: [`^packages/kernel/src/${own}`] },
    exceptTypes: true,
  }),
);

const OTHERS: readonly ImportRule[] = [
  {
    // A stage does not import the path that runs it.
    name: "stages-know-no-order",
    from: { path: "^packages/kernel/src/call/[^/]+/", pathNot: [TESTS] },
    to: { path: "^packages/kernel/src/call/run-call\\.ts$" },
  },
  {
    // An engine of the kernel does not import the path of a call, not even its types.
    name: "engines-know-no-path",
    from: { path: "^packages/kernel/src/(?!call/)[^/]+/", pathNot: [TESTS] },
    to: { path: "^packages/kernel/src/call/" },
  },
  {
    // Contracts, kernel and meter access the machine only through ports, never through a module of Node except for
    // hashing.
    name: "no-machine",
    from: {
      path: "^packages/(contracts|kernel|meter)/",
      pathNot: [TESTS, "^packages/contracts/src/digest/sha256\\.ts$"],
    },
    to: { kinds: ["core"] },
  },
  {
    // Fakes are for tests.
    name: "testkit-in-tests",
    from: { pathNot: [TESTS, "^(test|bench|campaigns|scripts/conformance)/", "^packages/testkit/"] },
    to: { path: "^packages/testkit/" },
  },
  // Tests are never imported.
  { name: "no-import-of-tests", to: { path: TEST_FILES } },
  {
    // Test support is only for tests.
    name: "test-support-in-tests",
    from: { path: PACKAGES, pathNot: [TESTS, "^packages/testkit/"] },
    to: { path: TESTS, pathNot: [TEST_FILES] },
  },
  {
    // A package does not depend on the rest of the repository.
    name: "nothing-above-packages",
    from: { path: PACKAGES, pathNot: [TESTS] },
    to: { path: "^(test|bench|campaigns|scripts|examples|vectors|docs)/" },
  },
  {
    // Every import is declared in a package.json; whole-system tests use the packages' dependencies.
    name: "declared",
    from: { pathNot: ["^(test|bench|campaigns)/"] },
    to: { kinds: ["undeclared"] },
  },
  // Every import exists.
  { name: "resolvable", to: { kinds: ["missing"] } },
  {
    // Sources import only what is installed with them.
    name: "no-development-dependency",
    from: { path: "^packages/(?!testkit/)[^/]+/", pathNot: [TESTS] },
    to: { kinds: ["development-dependency"] },
    exceptTypes: true,
  },
];

/** The import rules for the tree at `root`, which must have the repository's structure. */
export function importRules(root: string): readonly ImportRule[] {
  const frontDoors: ImportRule = {
    // Other packages are imported only through the exports in their package.json.
    name: "front-doors",
    from: { path: "^packages/([^/]+)/" },
    to: { path: PACKAGES, pathNot: ["^packages/$1/", ...listFrontDoors(root)] },
  };
  return [...DIRECTIONS, ...STAGES, ...OTHERS, frontDoors];
}

/** The exported files of all packages. */
function listFrontDoors(root: string): string[] {
  return readdirSync(join(root, "packages")).flatMap((name) => {
    const manifest = join(root, "packages", name, "package.json");
    const { exports = { ".": "./src/index.ts" } } = (
      existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {}
    ) as { exports?: Readonly<Record<string, string>> };
    return Object.values(exports).map((file) => `^packages/${name}/${RegExp.escape(file.slice(2))}$`);
  });
}
