import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TargetKind } from "./import-resolver.ts";

/** An import that matches all of it is forbidden. Paths are those of the repository, to be matched by expressions. */
export interface ImportRule {
  readonly name: string;
  readonly from?: { readonly path?: string; readonly pathNot?: readonly string[] };
  /** `$1` stands for what the first group of the importing file's path matched. */
  readonly to: {
    readonly path?: string;
    readonly pathNot?: readonly string[];
    readonly kinds?: readonly TargetKind[];
  };
  /** A type may be imported. */
  readonly exceptTypes?: boolean;
}

const TEST_FILES = "\\.test\\.ts$";
/** Tests and what only they use. */
const TESTS = "\\.test\\.ts$|/testing/|/test-[^/]+\\.ts$";
const PACKAGES = "^packages/[^/]+/";

/** Each package and the packages it may know, besides itself and, in its tests, the testkit. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  kernel: ["contracts"],
  verify: ["contracts"],
  meter: ["contracts"],
  host: ["contracts", "kernel", "meter"],
  tools: ["contracts", "kernel", "meter"],
  agent: ["contracts", "kernel"],
  testkit: ["contracts", "kernel"],
  server: ["contracts", "kernel", "meter", "host", "tools", "agent", "verify"],
  console: ["contracts"],
  narthex: ["contracts", "kernel", "meter", "host", "tools", "agent", "verify", "server", "console"],
};

const DIRECTIONS = Object.entries(MAY_IMPORT).map(
  ([name, others]): ImportRule => ({
    name: `direction-${name}`,
    from: { path: `^packages/${name}/`, pathNot: [TESTS] },
    to: { path: PACKAGES, pathNot: [`^packages/(${[name, "testkit", ...others].join("|")})/`] },
  }),
);

/**
 * A stage gets what came before as a value and returns what comes next; `run-call.ts` alone knows the order. A stage
 * does not import another, but for its types and the check of its seal.
 * SECURITY: the exceptions check a seal: a permitted call in grant, a grant in invoke. Each seal is checked in the file
 * that alone can make it.
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
    // A stage does not import the path it is on.
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
    // Contracts, kernel and meter reach the machine through ports, never through a module of Node but for hashing.
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
  // A test is imported by nobody.
  { name: "no-import-of-tests", to: { path: TEST_FILES } },
  {
    // What tests use is for tests.
    name: "test-support-in-tests",
    from: { path: PACKAGES, pathNot: [TESTS, "^packages/testkit/"] },
    to: { path: TESTS, pathNot: [TEST_FILES] },
  },
  {
    // A package is complete without the rest of the repository.
    name: "nothing-above-packages",
    from: { path: PACKAGES, pathNot: [TESTS] },
    to: { path: "^(test|bench|campaigns|scripts|examples|vectors|docs)/" },
  },
  {
    // What is imported is in a package.json; whole-system tests use what the packages brought.
    name: "declared",
    from: { pathNot: ["^(test|bench|campaigns)/"] },
    to: { kinds: ["undeclared"] },
  },
  // What is imported exists.
  { name: "resolvable", to: { kinds: ["missing"] } },
  {
    // Sources import only what is installed with them.
    name: "no-development-dependency",
    from: { path: "^packages/(?!testkit/)[^/]+/", pathNot: [TESTS] },
    to: { kinds: ["development-dependency"] },
    exceptTypes: true,
  },
];

/** Who may import whom in the tree at `root`, which is of the repository's shape. */
export function importRules(root: string): readonly ImportRule[] {
  const frontDoors: ImportRule = {
    // Another package is imported by what its package.json exports.
    name: "front-doors",
    from: { path: "^packages/([^/]+)/" },
    to: { path: PACKAGES, pathNot: ["^packages/$1/", ...listFrontDoors(root)] },
  };
  return [...DIRECTIONS, ...STAGES, ...OTHERS, frontDoors];
}

/** The files that packages offer to each other: their exports. */
function listFrontDoors(root: string): string[] {
  return readdirSync(join(root, "packages")).flatMap((name) => {
    const manifest = join(root, "packages", name, "package.json");
    const { exports = { ".": "./src/index.ts" } } = (
      existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")) : {}
    ) as { exports?: Readonly<Record<string, string>> };
    return Object.values(exports).map((file) => `^packages/${name}/${RegExp.escape(file.slice(2))}$`);
  });
}
