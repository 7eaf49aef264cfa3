import assert from "node:assert/strict";
import { test } from "node:test";
import { checkImports } from "../../scripts/checks/imports.ts";
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
  "packages/server/src/index.ts": `import "../../host/src/client.ts";`,
  "packages/testkit/src/index.ts": `import "../../kernel/src/index.ts";`,
};

const PLANTED: readonly { readonly rule: string; readonly file: string; readonly imports: string }[] = [
  { rule: "direction-contracts", file: "packages/contracts/src/up.ts", imports: "../../kernel/src/index.ts" },
  { rule: "direction-verify", file: "packages/verify/src/index.ts", imports: "../../kernel/src/index.ts" },
  { rule: "direction-host", file: "packages/host/src/index.ts", imports: "../../verify/src/index.ts" },
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

test("every forbidden import is found, and nothing else", async (context) => {
  const root = createTemporaryTree(context, {
    ...CLEAN,
    ...Object.fromEntries(PLANTED.map(({ file, imports }) => [file, `import ${JSON.stringify(imports)};`])),
  });
  const { details } = await checkImports(root, 1);
  const found = details.split("\n").map((line) => line.split(": ").slice(0, 2).join(": "));
  assert.deepEqual(found.toSorted(), PLANTED.map(({ file, rule }) => `${file}: ${rule}`).toSorted());
});

test("modules that import each other are found", async (context) => {
  const root = createTemporaryTree(context, {
    ...CLEAN,
    "packages/kernel/src/lease/left.ts": `import "./right.ts";`,
    "packages/kernel/src/lease/right.ts": `import "./left.ts";`,
  });
  assert.match((await checkImports(root, 1)).details, /^packages\/kernel\/src\/lease\/(left|right)\.ts: no-cycles/);
});

test("a type of another stage and the check of a seal may be imported", async (context) => {
  const result = await checkImports(createTemporaryTree(context, CLEAN), 10);
  assert.equal(result.details, "");
  assert.equal(result.passed, true);
});

test("seeing too little is a failure", async (context) => {
  const root = createTemporaryTree(context, { ...CLEAN, "packages/tools/package.json": "{}" });
  const { passed, details } = await checkImports(root, 60);
  assert.equal(passed, false);
  assert.match(details, /looked at 13 modules, expected at least 60/);
  assert.match(details, /saw nothing of packages\/tools/);
});
