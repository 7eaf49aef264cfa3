/**
 * Who may import whom. Paths are those of the repository, so the same file checks any tree of the same shape.
 * `scripts/checks/imports.ts` runs it at the root of that tree and makes sure that it looked at something.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";

const TEST_FILES = "\\.test\\.ts$";
/** Tests and what only they use. */
const TESTS = "\\.test\\.ts$|/testing/|/test-[^/]+\\.ts$";
const PACKAGES = "^packages/[^/]+/";

/** Each package and the packages it may know, besides itself and, in its tests, the testkit. */
const MAY_IMPORT = {
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

/** The files that packages offer to each other: their exports. */
const FRONT_DOORS = readdirSync("packages").flatMap((name) => {
  const manifest = `packages/${name}/package.json`;
  const { exports = { ".": "./src/index.ts" } } = existsSync(manifest)
    ? JSON.parse(readFileSync(manifest, "utf8"))
    : {};
  return Object.values(exports).map((file) => `^packages/${name}/${file.slice(2).replaceAll(".", "\\.")}$`);
});

const directions = Object.entries(MAY_IMPORT).map(([name, others]) => ({
  name: `direction-${name}`,
  comment: `${name} imports ${others.length === 0 ? "no other package" : `only ${others.join(", ")}`}`,
  severity: "error",
  from: { path: `^packages/${name}/`, pathNot: TESTS },
  to: { path: PACKAGES, pathNot: `^packages/(${[name, "testkit", ...others].join("|")})/` },
}));

/**
 * A stage gets what came before as a value and returns what comes next; `run-call.ts` alone knows the order.
 * SECURITY: the exceptions check a seal: a permitted call in grant, a grant in invoke. Each seal is checked in the file
 * that alone can make it.
 */
const SEALS = { grant: "decide/decide\\.ts$", invoke: "grant/grant\\.ts$" };
const stages = [
  { from: `call/(?!(?:${Object.keys(SEALS).join("|")})/)([^/]+)/`, own: "call/$1/" },
  ...Object.entries(SEALS).map(([stage, seal]) => ({ from: `call/${stage}/`, own: `call/(?:${stage}/|${seal})` })),
].map(({ from, own }, index) => ({
  name: index === 0 ? "stages-apart" : `stages-apart-${Object.keys(SEALS)[index - 1]}`,
  comment: "a stage does not import another stage, but for its types and the check of its seal",
  severity: "error",
  from: { path: `^packages/kernel/src/${from}`, pathNot: TESTS },
  to: {
    path: "^packages/kernel/src/call/[^/]+/",
    pathNot: `^packages/kernel/src/${own}`,
    dependencyTypesNot: ["type-only"],
  },
}));

export default {
  forbidden: [
    ...directions,
    ...stages,
    {
      name: "front-doors",
      comment: "another package is imported by what its package.json exports",
      severity: "error",
      from: { path: "^packages/([^/]+)/" },
      to: { path: PACKAGES, pathNot: ["^packages/$1/", ...FRONT_DOORS] },
    },
    {
      name: "stages-know-no-order",
      comment: "a stage does not import the path it is on",
      severity: "error",
      from: { path: "^packages/kernel/src/call/[^/]+/", pathNot: TESTS },
      to: { path: "^packages/kernel/src/call/run-call\\.ts$" },
    },
    {
      name: "engines-know-no-path",
      comment: "an engine of the kernel does not import the path of a call, not even its types",
      severity: "error",
      from: { path: "^packages/kernel/src/(?!call/)[^/]+/", pathNot: TESTS },
      to: { path: "^packages/kernel/src/call/" },
    },
    {
      name: "no-machine",
      comment:
        "contracts, kernel and meter reach the machine through ports, never through a module of Node but for hashing",
      severity: "error",
      from: {
        path: "^packages/(contracts|kernel|meter)/",
        pathNot: [TESTS, "^packages/contracts/src/digest/sha256\\.ts$"],
      },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "testkit-in-tests",
      comment: "fakes are for tests",
      severity: "error",
      from: { pathNot: [TESTS, "^(test|bench|campaigns)/", "^packages/testkit/"] },
      to: { path: "^packages/testkit/" },
    },
    {
      name: "no-import-of-tests",
      comment: "a test is imported by nobody",
      severity: "error",
      from: {},
      to: { path: TEST_FILES },
    },
    {
      name: "test-support-in-tests",
      comment: "what tests use is for tests",
      severity: "error",
      from: { path: PACKAGES, pathNot: [TESTS, "^packages/testkit/"] },
      to: { path: TESTS, pathNot: TEST_FILES },
    },
    {
      name: "nothing-above-packages",
      comment: "a package is complete without the rest of the repository",
      severity: "error",
      from: { path: PACKAGES, pathNot: TESTS },
      to: { path: "^(test|bench|campaigns|scripts|examples|vectors|docs)/" },
    },
    {
      name: "no-cycles",
      comment: "modules that import each other are one module",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "declared",
      comment: "what is imported is in a package.json; whole-system tests use what the packages brought",
      severity: "error",
      from: { pathNot: "^(test|bench|campaigns)/" },
      to: { dependencyTypes: ["npm-no-pkg", "npm-unknown"] },
    },
    {
      name: "resolvable",
      comment: "what is imported exists",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: "no-development-dependency",
      comment: "sources import only what is installed with them",
      severity: "error",
      from: { path: "^packages/(?!testkit/)[^/]+/", pathNot: TESTS },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    parser: "tsc",
    detectProcessBuiltinModuleCalls: true,
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default"] },
  },
};
