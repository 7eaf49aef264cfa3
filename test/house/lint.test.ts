import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { REPOSITORY, runTool } from "../../scripts/checks/run-tool.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const PLANTED: Readonly<Record<string, readonly [rule: string, text: string]>> = {
  "packages/host/src/any.ts": ["typescript(no-explicit-any)", "export const one: any = 1;"],
  "packages/host/src/bang.ts": ["typescript(no-non-null-assertion)", "export const f = (x?: string): string => x!;"],
  "packages/host/src/floating.ts": [
    "typescript(no-floating-promises)",
    "const work = async (): Promise<void> => {};\nexport const f = (): void => {\n  work();\n};",
  ],
  "packages/host/src/console.ts": ["eslint(no-console)", "console.log(1);\nexport const one = 1;"],
  "packages/host/src/unused.ts": ["eslint(no-unused-vars)", "const one = 1;\nexport const two = 2;"],
  "packages/host/src/long.ts": ["eslint(max-lines)", `${"// one line\n".repeat(400)}export const one = 1;\n`],
  "packages/host/src/NotKebab.ts": ["unicorn(filename-case)", "export const one = 1;"],
  "packages/kernel/src/clock.ts": ["eslint(no-restricted-properties)", "export const f = (): number => Date.now();"],
  "packages/kernel/src/env.ts": ["eslint(no-restricted-globals)", "export const f = (): unknown => process.env;"],
};

test("every planted violation is found, and nothing else", async (context) => {
  const root = createTemporaryTree(context, {
    ...Object.fromEntries(Object.entries(PLANTED).map(([file, [, text]]) => [file, text])),
    "packages/narthex/src/prints.ts": "console.log(1);\nexport const one = 1;",
    "packages/host/src/now.ts": "export const f = (): number => Date.now();",
    ".oxlintrc.json": readFileSync(join(REPOSITORY, ".oxlintrc.json"), "utf8"),
    "tsconfig.json": readFileSync(join(REPOSITORY, "tsconfig.json"), "utf8"),
    "package.json": `{ "type": "module" }`,
    node_modules: `-> ${join(REPOSITORY, "node_modules")}`,
  });
  const { code, output } = await runTool("oxlint/bin/oxlint", ["--format=unix", "packages"], root);
  assert.notEqual(code, 0);
  const found = output.matchAll(/^(\S+?):\d+:\d+: .*\[\w+\/(.*)\]$/gm).map(([, file, rule]) => `${file}: ${rule}`);
  const expected = Object.entries(PLANTED).map(([file, [rule]]) => `${file}: ${rule}`);
  assert.deepEqual([...new Set(found)].toSorted(), expected.toSorted());
});
