import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { meterModule } from "./meter-module.ts";
import type { MeterReason } from "./meter-reason.ts";
import { assemble } from "./testing/assemble.ts";
import { metered, OPTIONS, start } from "./testing/run-metered.ts";

/** Modules that are not taken, and the reason. */
const REJECTED: readonly (readonly [what: string, MeterReason, text: string, flags?: readonly string[]])[] = [
  ["an import that was not granted", "import-not-granted", '(module (import "env" "other" (func)))'],
  ["a granted import by another split", "import-not-granted", '(module (import "env.host" "" (func)))'],
  ["an imported memory", "imported-memory", '(module (import "env" "host" (memory 1)))'],
  ["an imported table", "imported-table", '(module (import "env" "host" (table 1 funcref)))'],
  ["a shared memory", "shared-memory", "(module (memory 1 1 shared))", ["--enable-threads"]],
  [
    "an atomic load",
    "threads",
    "(module (memory 1) (func (drop (i32.atomic.load (i32.const 0)))))",
    ["--enable-threads"],
  ],
  ["a 64-bit memory", "memory64", "(module (memory i64 1))", ["--enable-memory64"]],
  ["two memories", "multi-memory", "(module (memory 1) (memory 1))", ["--enable-multi-memory"]],
  ["4 GB of memory", "memory-above-cap", "(module (memory 65536))"],
  ["a page too much", "memory-above-cap", "(module (memory 17))"],
  ["a table entry too much", "table-above-cap", "(module (table 101 funcref))"],
  ["very many tables", "too-many-tables", `(module ${"(table 0 1 funcref)".repeat(101)})`],
  ["a tag", "exceptions", "(module (tag))", ["--enable-exceptions"]],
  ["a try", "exceptions", "(module (func try nop catch_all nop end))", ["--enable-exceptions"]],
  ["a tail call", "tail-calls", "(module (func $f (return_call $f)))", ["--enable-tail-call"]],
  ["SIMD", "simd", "(module (func (drop (v128.const i32x4 0 0 0 0))))"],
  ["SIMD in a parameter", "simd", "(module (func (param v128)))"],
  ["SIMD in a local", "simd", "(module (func (local v128)))"],
  ["SIMD in code that no path reaches", "simd", "(module (func unreachable (drop (v128.const i32x4 0 0 0 0))))"],
  [
    "a computed constant",
    "extended-const",
    "(module (global i32 (i32.add (i32.const 1) (i32.const 2))))",
    ["--enable-extended-const"],
  ],
  ["an export with a name of the meter", "reserved-name", '(module (func (export "narthex:meter:fuel")))'],
  ["what is not well typed", "invalid", "(module (func (result i32)))", ["--no-check"]],
];

suite("a module is rejected for", () => {
  for (const [what, reason, text, flags] of REJECTED) {
    test(what, () => {
      const answer = meterModule(assemble(text, flags), OPTIONS);
      assert.equal(answer.ok ? "taken" : answer.reason, reason);
    });
  }

  test("relaxed SIMD, where SIMD is allowed", () => {
    // i8x16.relaxed_swizzle, number 0x100.
    const answer = meterModule(ofBody([0xfd, 0x0c, ...zeros(16), 0xfd, 0x0c, ...zeros(16), 0xfd, 0x80, 0x02, 0x1a]), {
      ...OPTIONS,
      allowSimd: true,
    });
    assert.equal(answer.ok ? "taken" : answer.reason, "relaxed-simd");
  });

  test("a type for garbage collection, and instructions for it", () => {
    const withStruct = [...HEADER, 1, 4, 1, 0x5f, 1, 0x7f, 0];
    assert.equal(reasonOf(withStruct), "invalid");
    assert.equal(reasonOf([...HEADER, 1, 5, 1, 0x5f, 1, 0x7f, 0]), "garbage-collection");
    // ref.i31 of 0, dropped
    assert.equal(reasonOf(ofBody([0x41, 0, 0xfb, 0x1c, 0x1a])), "garbage-collection");
  });

  test("a component, and bytes that are no module", () => {
    assert.equal(reasonOf([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]), "component");
    assert.equal(reasonOf([0, 0x61, 0x73, 0x6d, 2, 0, 0, 0]), "not-a-module");
    assert.equal(reasonOf([]), "not-a-module");
    assert.equal(reasonOf([...new TextEncoder().encode("#!/bin/sh\nrm -rf\n")]), "not-a-module");
  });

  test("sections that lie about their length, counts beyond them, and overlong numbers", () => {
    for (const tail of [
      [1, 0x80],
      [1, 5, 1],
      [1, 2, 0xff, 0xff],
      [3, 5, 0xff, 0xff, 0xff, 0xff, 0x0f],
      [1, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0],
      [0, 3, 9, 0x61, 0x62],
      [0, 0],
      [14, 1, 0],
      [10, 4, 1, 2, 0, 0x0b],
      [1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 3, 1, 0],
    ]) {
      const answer = meterModule(new Uint8Array([...HEADER, ...tail]), OPTIONS);
      assert.equal(answer.ok ? "taken" : answer.reason, "invalid", String(tail));
    }
  });

  test("growing beyond all measure when it is metered", () => {
    // Each call takes a loose float far below its other operands, so that all of them have to be set aside.
    const many = "f64 ".repeat(900);
    const once = "local.get 0 local.get 0 f64.add call 0 call 1 ";
    const module = assemble(
      `(module (func (result ${many}) unreachable) (func (param f64 ${many})) (func (param f64) ${once.repeat(400)}))`,
    );
    assert.equal(reasonOf([...module]), "too-large");
  });
});

suite("a module that is taken", () => {
  test("gives back its custom sections, and has none any more", () => {
    const custom = [0, 6, 3, 0x61, 0x62, 0x63, 1, 2];
    const answer = metered(new Uint8Array([...HEADER, ...custom, ...custom]));
    assert.deepEqual(
      answer.declaration.map(({ name, bytes }) => [name, [...bytes]]),
      [
        ["abc", [1, 2]],
        ["abc", [1, 2]],
      ],
    );
    assert.deepEqual(WebAssembly.Module.customSections(new WebAssembly.Module(answer.code), "abc"), []);
  });

  test("may have SIMD where that is allowed, and says so", () => {
    const text = '(module (func (export "f") (result i32) (i32x4.extract_lane 2 (i32x4.splat (i32.const 7)))))';
    const answer = metered(text, { allowSimd: true });
    assert.equal(answer.facts.usesSimd, true);
    assert.deepEqual(start(answer).call("f"), { value: 7, used: 3n });
  });

  test("says what is in it", () => {
    const { facts } = metered(
      '(module (memory 2 9) (func (export "f") (param f32)) (func) (func (drop (f64.const 1))))',
    );
    assert.deepEqual(facts, {
      usesSimd: false,
      usesFloats: true,
      functions: 3,
      takesFloats: true,
      memoryPages: { initial: 2, maximum: 9 },
    });
  });

  test("says that floats are in it, wherever they are", () => {
    const usesFloats = (text: string) => metered(`(module (memory 1) ${text})`).facts.usesFloats;
    for (const text of [
      "(func (param f32))",
      "(func (local f64))",
      "(global f64 (f64.const 0))",
      "(func (drop (f64.const 0)))",
      "(func (f64.store (i32.const 0) (f64.load (i32.const 0))))",
      "(func (drop (f32.convert_i32_s (i32.const 0))))",
      "(func (drop (i32.reinterpret_f32 (f32.add (f32.reinterpret_i32 (i32.const 1)) (f32.load (i32.const 0))))))",
    ]) {
      assert.equal(usesFloats(text), true, text);
    }
    assert.equal(
      usesFloats("(func (param i32) (drop (i64.load (local.get 0))) (i32.store (i32.const 0) (i32.const 1)))"),
      false,
    );
  });

  test("may be the empty one", () => {
    const answer = metered(new Uint8Array(HEADER));
    assert.deepEqual(answer.exports, {
      fuel: "narthex:meter:fuel",
      depth: "narthex:meter:depth",
      start: undefined,
      memory: undefined,
    });
  });

  test("may be a part of a larger buffer", () => {
    const whole = new Uint8Array([1, 2, 3, ...assemble('(module (func (export "f") (result i32) (i32.const 5)))'), 9]);
    assert.deepEqual(start(metered(whole.subarray(3, -1))).call("f"), { value: 5, used: 1n });
  });
});

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

/** A module of one function with this body, without the end. */
function ofBody(body: readonly number[]): Uint8Array {
  const code = [0, ...body, 0x0b];
  return new Uint8Array([...HEADER, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, code.length + 2, 1, code.length, ...code]);
}

function reasonOf(bytes: Uint8Array | readonly number[]): string {
  const answer = meterModule(new Uint8Array(bytes), OPTIONS);
  return answer.ok ? "taken" : answer.reason;
}
