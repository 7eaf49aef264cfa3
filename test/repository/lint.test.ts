import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lint } from "../../scripts/checks/lint.ts";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const PLANTED: Readonly<Record<string, readonly [rule: string, text: string]>> = {
  "packages/host/src/assigned.ts": ["typescript(TS2322)", 'export const one: number = "one";'],
  "packages/host/src/enum.ts": ["typescript(TS1294)", "export enum Colour {\n  Red,\n}"],
  "packages/host/src/indexed.ts": [
    "typescript(TS2322)",
    "export const f = (list: readonly number[]): number => {\n  const first: number = list[0];\n  return first;\n};",
  ],
  "packages/host/src/missing.ts": ["typescript(TS2307)", 'export type { One } from "./not-there.ts";'],
  "packages/host/src/optional.ts": [
    "typescript(TS2375)",
    "export const one: { readonly a?: string } = { a: undefined };",
  ],
  "packages/host/src/overridden.ts": [
    "typescript(TS4114)",
    "class One {\n  f(): number {\n    return 1;\n  }\n}\nexport class Two extends One {\n  f(): number {\n    return 2;\n  }\n}",
  ],
  "packages/host/src/returns.ts": [
    "typescript(TS2366)",
    "export const f = (x: number): number => {\n  if (x > 1) return 1;\n};",
  ],
  "packages/host/src/signature.ts": [
    "typescript(TS4111)",
    "export const f = (all: Readonly<Record<string, string>>): unknown => all.one;",
  ],
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

test("finds every planted violation, in types too, and nothing else", async (context) => {
  const root = createTemporaryTree(context, {
    ...Object.fromEntries(Object.entries(PLANTED).map(([file, [, text]]) => [file, text])),
    "packages/narthex/src/prints.ts": "console.log(1);\nexport const one = 1;",
    "packages/host/src/now.ts": "export const f = (): number => Date.now();",
    ".oxlintrc.json": readFileSync(join(REPOSITORY, ".oxlintrc.json"), "utf8"),
    "tsconfig.json": readFileSync(join(REPOSITORY, "tsconfig.json"), "utf8"),
    "package.json": `{ "type": "module" }`,
    node_modules: `-> ${join(REPOSITORY, "node_modules")}`,
  });
  const { code, output } = await lint(["packages"], root);
  assert.notEqual(code, 0);
  const found = output.matchAll(/^(\S+?):\d+:\d+: .*\[\w+\/(.*)\]$/gm).map(([, file, rule]) => `${file}: ${rule}`);
  const expected = Object.entries(PLANTED).map(([file, [rule]]) => `${file}: ${rule}`);
  assert.deepEqual([...new Set(found)].toSorted(), expected.toSorted());
});
