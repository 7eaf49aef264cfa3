import assert from "node:assert/strict";
import { test } from "node:test";
import { checkImports } from "../../scripts/checks/imports/check-imports.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const CLEAN = {
  "package.json": `{ "name": "fixture", "type": "module" }`,
  "packages/contracts/src/index.ts": "export const one = 1;",
  "packages/kernel/src/index.ts": `export { runCall } from "./call/run-call.ts";`,
  "packages/kernel/src/call/run-call.ts": `
    import { decide } from "./decide/decide.ts";
    import { grant } from "./grant/grant.ts";
    import { invoke } from "./invoke/invoke.ts";
    export const runCall = () => [decide, grant, invoke];`,
  "packages/kernel/src/call/decide/decide.ts": `
    import { ask } from "./ask.ts";
    export type Permitted = 1;
    export const decide = ask;`,
  "packages/kernel/src/call/decide/ask.ts": "export const ask = 1;",
  "packages/kernel/src/call/grant/grant.ts": `
    import { decide } from "../decide/decide.ts";
    export const grant = decide;`,
  "packages/kernel/src/call/invoke/invoke.ts": `
    import type { Permitted } from "../decide/decide.ts";
    import { grant } from "../grant/grant.ts";
    export const invoke = (permitted: Permitted) => [permitted, grant];`,
  "packages/kernel/src/lease/lease.ts": "export const lease = 1;",
  "packages/kernel/src/lease/lease.test.ts": `
    import "node:assert/strict";
    import "../../../testkit/src/index.ts";`,
  "packages/kernel/src/lease/testing/builder.ts": `import "../../../../testkit/src/index.ts";`,
  "packages/host/package.json": `{ "exports": { ".": "./src/index.ts", "./client": "./src/client.ts" } }`,
  "packages/host/src/client.ts": "export const client = 1;",
  "packages/narthex/src/index.ts": `import "../../host/src/client.ts";`,
  "packages/testkit/src/index.ts": `import "../../kernel/src/index.ts";`,
};

const PLANTED: readonly { readonly rule: string; readonly file: string; readonly imports: string }[] = [
  { rule: "direction-contracts", file: "packages/contracts/src/up.ts", imports: "../../kernel/src/index.ts" },
  { rule: "direction-verify", file: "packages/verify/src/index.ts", imports: "../../kernel/src/index.ts" },
  { rule: "direction-host", file: "packages/host/src/index.ts", imports: "../../verify/src/index.ts" },
  { rule: "direction-server", file: "packages/server/src/index.ts", imports: "../../host/src/client.ts" },
  { rule: "front-doors", file: "packages/tools/src/index.ts", imports: "../../kernel/src/lease/lease.ts" },
  { rule: "no-machine", file: "packages/kernel/src/lease/hash.ts", imports: "node:crypto" },
  { rule: "no-machine", file: "packages/contracts/src/hash.ts", imports: "node:crypto" },
  { rule: "stages-apart", file: "packages/kernel/src/call/keep/keep.ts", imports: "../decide/decide.ts" },
  { rule: "stages-apart-grant", file: "packages/kernel/src/call/grant/all.ts", imports: "../decide/ask.ts" },
  { rule: "stages-apart-invoke", file: "packages/kernel/src/call/invoke/all.ts", imports: "../decide/decide.ts" },
  { rule: "stages-know-no-order", file: "packages/kernel/src/call/reply/reply.ts", imports: "../run-call.ts" },
  { rule: "engines-know-no-path", file: "packages/kernel/src/lease/path.ts", imports: "../call/grant/grant.ts" },
  { rule: "testkit-in-tests", file: "packages/kernel/src/lease/fake.ts", imports: "../../../testkit/src/index.ts" },
  { rule: "no-import-of-tests", file: "packages/kernel/src/lease/again.ts", imports: "./lease.test.ts" },
  { rule: "test-support-in-tests", file: "packages/kernel/src/lease/use.ts", imports: "./testing/builder.ts" },
  { rule: "resolvable", file: "packages/host/src/gone.ts", imports: "./never-written.ts" },
];

/** Packages that are installed, as manifests name them or do not. */
const INSTALLED = {
  "package.json": `{ "type": "module", "devDependencies": { "for-tests": "1" } }`,
  "packages/host/package.json": `{ "exports": { ".": "./src/index.ts", "./client": "./src/client.ts" }, "dependencies": { "@vendor/needed": "1" } }`,
  ...Object.fromEntries(
    ["@vendor/needed", "for-tests", "not-named"].flatMap((name) => [
      [`node_modules/${name}/package.json`, `{ "name": "${name}", "exports": { "./part": "./part.js" } }`],
      [`node_modules/${name}/part.js`, "export const part = 1;"],
    ]),
  ),
};

/** Ways to import what is forbidden to `packages/contracts`, in its own file each. */
const WAYS = [
  `import type { Kernel } from "../../kernel/src/index.ts";`,
  `import { type Kernel } from "../../kernel/src/index.ts";`,
  `import * as kernel from "../../kernel/src/index.ts";`,
  `export * from "../../kernel/src/index.ts";`,
  `export { runCall } from "../../kernel/src/index.ts";`,
  `export type { Kernel } from "../../kernel/src/index.ts";`,
  `export {} from "../../kernel/src/index.ts";`,
  `export const load = () => import("../../kernel/src/index.ts");`,
  "export const load = () => import(`../../kernel/src/index.ts`);",
  `export type Kernel = import("../../kernel/src/index.ts").Kernel;`,
  `export type All = typeof import("../../kernel/src/index.ts");`,
  `import kernel = require("../../kernel/src/index.ts");`,
  `export const kernel = require("../../kernel/src/index.ts");`,
  `/// <reference path="../../kernel/src/index.ts" />`,
];

test("every forbidden import is found, and nothing else", (context) => {
  const root = createTemporaryTree(context, {
    ...CLEAN,
    ...Object.fromEntries(PLANTED.map(({ file, imports }) => [file, `import ${JSON.stringify(imports)};`])),
  });
  assert.deepEqual(findIn(root), PLANTED.map(({ file, rule }) => `${file}: ${rule}`).toSorted());
});

test("finds an import in any notation", (context) => {
  const files = WAYS.map((text, index) => [`packages/contracts/src/way-${index}.ts`, text] as const);
  const root = createTemporaryTree(context, {
    ...CLEAN,
    ...Object.fromEntries(files),
    "packages/contracts/src/none.ts": `// import "../../kernel/src/index.ts";\nexport const text = 'import("./gone.ts")';`,
    "packages/contracts/src/built-in.ts": `export const files = process.getBuiltinModule("node:fs");`,
  });
  const expected = files.map(([file]) => `${file}: direction-contracts`);
  assert.deepEqual(findIn(root), [...expected, "packages/contracts/src/built-in.ts: no-machine"].toSorted());
});

test("packages are imported where a manifest names them, those for development by tests and for their types", (context) => {
  const root = createTemporaryTree(context, {
    ...CLEAN,
    ...INSTALLED,
    "packages/host/src/needed.ts": `import "@vendor/needed/part";`,
    "packages/host/src/types.ts": `import type { part } from "for-tests/part";`,
    "packages/host/src/for.test.ts": `import "for-tests/part";`,
    "test/whole.test.ts": `import "not-named/part";`,
    "packages/host/src/development.ts": `import "for-tests/part";`,
    "packages/kernel/src/of-another.ts": `import "@vendor/needed/part";`,
    "packages/host/src/not-named.ts": `import type { part } from "not-named/part";`,
    "packages/host/src/inside.ts": `import "@vendor/needed/inside.js";`,
    "packages/host/src/above.ts": `import "../../../scripts/script.ts";`,
    "scripts/script.ts": "export const script = 1;",
  });
  assert.deepEqual(findIn(root), [
    "packages/host/src/above.ts: nothing-above-packages",
    "packages/host/src/development.ts: no-development-dependency",
    "packages/host/src/inside.ts: resolvable",
    "packages/host/src/not-named.ts: declared",
    "packages/kernel/src/of-another.ts: declared",
  ]);
});

test("finds modules that import each other, except for their types", (context) => {
  const root = createTemporaryTree(context, {
    ...CLEAN,
    "packages/kernel/src/lease/left.ts": `import "./right.ts";`,
    "packages/kernel/src/lease/right.ts": `import "./left.ts";`,
    "packages/kernel/src/lease/first.ts": `export * from "./second.ts";`,
    "packages/kernel/src/lease/second.ts": `import type { first } from "./first.ts"; import "./third.ts";`,
    "packages/kernel/src/lease/third.ts": `export const load = () => import("./first.ts");`,
    "packages/kernel/src/lease/self.ts": `import "./self.ts";`,
    "packages/kernel/src/lease/one.ts": `import type { two } from "./two.ts";`,
    "packages/kernel/src/lease/two.ts": `import "./one.ts";`,
  });
  const { details } = checkImports(root, 1);
  assert.deepEqual(
    details.split("\n").map((line) => line.match(/\w+(?=\.ts)/g)?.toSorted()),
    [["first", "second", "third"], ["left", "right"], ["self"]],
  );
  assert.match(details, /^packages\/kernel\/src\/lease\/first\.ts: no-cycles: packages/);
});

test("an unreadable file is a failure", (context) => {
  const root = createTemporaryTree(context, { ...CLEAN, "packages/kernel/src/broken.ts": "import { from;" });
  assert.throws(() => checkImports(root, 1), /broken\.ts cannot be read/);
});

test("a type of another stage and the check of a seal may be imported", (context) => {
  const result = checkImports(createTemporaryTree(context, CLEAN), 10);
  assert.equal(result.details, "");
  assert.equal(result.passed, true);
});

test("finding too few files is a failure", (context) => {
  const root = createTemporaryTree(context, { ...CLEAN, "packages/tools/package.json": "{}" });
  const { passed, details } = checkImports(root, 60);
  assert.equal(passed, false);
  assert.match(details, /looked at 13 modules, expected at least 60/);
  assert.match(details, /saw nothing of packages\/tools/);
});

/** The files and the rules they break. */
function findIn(root: string): string[] {
  const { details } = checkImports(root, 1);
  return details
    .split("\n")
    .map((line) => line.split(": ").slice(0, 2).join(": "))
    .toSorted();
}
