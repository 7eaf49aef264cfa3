import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { stackBytesFor } from "./stack-bytes.ts";
import { metered } from "./testing/run-metered.ts";

const DEPTH = 10_000;

/** Functions that call themselves, with frames of all shapes. */
const SHAPES: Readonly<Record<string, string>> = {
  "as small as can be": '(func $f (export "f") (call $f))',
  "through a table":
    '(type $t (func)) (table funcref (elem $f)) (func $f (export "f") (call_indirect (type $t) (i32.const 0)))',
  "locals in use": frameOf(9),
  "many locals in use": frameOf(200),
  "locals that are never used": `(func $f (export "f") ${"(local i64)".repeat(5000)} (call $f))`,
  "many parameters": `(func $f (export "f") (call $g ${"(i64.const 1)".repeat(1000)})) (func $g (param ${"i64 ".repeat(1000)}) (call $f))`,
  "many results": `(func $h (result ${"i64 ".repeat(1000)}) (call $f) unreachable) (func $f (export "f") (call $h) ${"drop ".repeat(1000)})`,
  "some results": `(func $h (result ${"i64 ".repeat(30)}) (call $f) unreachable) (func $f (export "f") (call $h) ${"drop ".repeat(30)})`,
  "many operands": `(memory 1) (func $f (export "f") ${"(i64.load (i32.const 0))".repeat(500)} (call $f) ${"drop ".repeat(500)})`,
  "a large leaf at the bottom": `(func $leaf ${"(local i64)".repeat(50)}) (func $f (export "f") (call $leaf) (call $f))`,
};

test("recursion of every shape ends by its depth, never by V8's stack", async () => {
  const names = Object.keys(SHAPES);
  const modules = names.map((name) => metered(`(module ${SHAPES[name] ?? ""})`));
  const worker = new Worker(new URL("./testing/recurse-worker.ts", import.meta.url), {
    workerData: { modules, depth: DEPTH },
    resourceLimits: { stackSizeMb: stackBytesFor(DEPTH) / 2 ** 20 },
  });
  const [ends] = await once(worker, "message");
  for (const [index, name] of names.entries())
    assert.equal(ends[index].end, "depth", `${name}: ${JSON.stringify(ends[index].fault)}`);
});

function frameOf(locals: number): string {
  const numbers = Array.from({ length: locals }, (_, index) => index);
  const load = numbers.map((index) => `(local.set ${index} (i64.load (i32.const ${index * 8})))`).join("");
  const store = numbers.map((index) => `(i64.store (i32.const ${index * 8}) (local.get ${index}))`).join("");
  return `(memory 1) (func $f (export "f") ${"(local i64)".repeat(locals)} ${load} (call $f) ${store})`;
}
