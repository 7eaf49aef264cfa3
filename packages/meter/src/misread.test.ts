import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { meterModule } from "./meter-module.ts";
import type { MeterOptions } from "./meter-options.ts";
import { assemble } from "./testing/assemble.ts";
import { concat, repeat, section, u32 } from "./testing/build-module.ts";
import { OPTIONS } from "./testing/run-metered.ts";
import { I32, I64 } from "./value-type.ts";

const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const NO_VALUES = [0x60, 0, 0];

/** What V8 reads in another way than it looks must not be metered in the way it looks. */
suite("a module is rejected whose bytes would be misread:", () => {
  /** As a number, this type is the bytes 0xc4 0x28: to who misreads them, an instruction and a load. */
  const TYPE = 0x44 + 0x28 * 0x80;
  const hiding = (...hidden: number[]): number[] => [0xd2, 0, 0xd2, 0, 0x41, 0, 0x1c, 1, 0x63, ...u32(TYPE), ...hidden];
  // What is hidden: `loop`, and `drop` with the loop's `end`. Between them is `br_if 0`, and so no end.
  const endless = [...hiding(0x03, 0x40), 0x41, 1, 0x0d, 0, ...hiding(0x1a, 0x0b), 0x1a];

  for (const [what, body] of [
    ["a loop in what looks like the offset of a load", endless],
    ["the same, where no path leads", [0x00, ...endless]],
  ] as const) {
    test(`select with a type of several bytes, and ${what}`, () => {
      const bytes = moduleOf({ types: TYPE + 1, body, element: [1, 3, 0, 1, 0] });
      assert.ok(WebAssembly.validate(bytes), "V8 does not take it: this shows nothing");
      assert.equal(reasonOf(bytes), "function-references");
    });
  }

  test("a block without results, whose negative number looks like the index of a type", () => {
    const overlong = [0xc0, 0x7f];
    const bytes = moduleOf({ types: 0x40 + 0x7f * 0x80 + 1, body: [0x02, ...overlong, 0x0b] });
    assert.ok(WebAssembly.validate(bytes), "V8 does not take it: this shows nothing");
    assert.equal(reasonOf(bytes), "invalid");
  });

  test("but indexes of types that are numbers of several bytes are taken", () => {
    for (const index of [0x3f, 0x40, 0x1fff, 0x2000, 0x3fc0]) {
      const signed = index < 0x40 ? [index] : [(index & 0x7f) | 0x80, ((index >> 7) & 0x7f) | 0x80, 0];
      assert.equal(reasonOf(moduleOf({ types: 0x3fc1, body: [0x02, ...signed, 0x0b] })), "taken", String(index));
    }
  });

  test("a name with a byte order mark is another name", () => {
    const name = [...new TextEncoder().encode("\u{feff}env")];
    const imported = [1, name.length, ...name, 4, ...new TextEncoder().encode("host"), 0, 0];
    assert.equal(reasonOf(concat([HEADER, [1, 4, 1, ...NO_VALUES], section(2, [imported])])), "import-not-granted");
    const answer = meterModule(concat([HEADER, section(0, [[name.length], name])]), OPTIONS);
    assert.deepEqual(answer.ok && answer.declaration.map((one) => one.name), ["\u{feff}env"]);
  });
});

suite("a module is rejected that takes more than it pays for:", () => {
  test("tables with very many entries together, from the start or later", () => {
    assert.equal(reasonOf(assemble(`(module (table 60 funcref) (table 41 funcref))`)), "table-above-cap");
    assert.equal(reasonOf(assemble(`(module ${"(table 1 funcref)".repeat(10)})`)), "taken");
    assert.equal(reasonOf(assemble(`(module ${"(table 1 funcref)".repeat(11)})`)), "too-many-tables");
    assert.equal(reasonOf(assemble(`(module ${"(table 1 5 funcref)".repeat(100)})`)), "taken");
  });

  test("segments that fill the same table again and again", () => {
    const segment = `(elem (i32.const 0) func ${"$f ".repeat(50)})`;
    assert.equal(reasonOf(assemble(`(module (table 50 funcref) (func $f) ${segment.repeat(2)})`)), "taken");
    assert.equal(reasonOf(assemble(`(module (table 50 funcref) (func $f) ${segment.repeat(3)})`)), "table-above-cap");
    const expressions = `(elem (i32.const 0) funcref ${"(ref.null func) ".repeat(50)})`;
    assert.equal(reasonOf(assemble(`(module (table 50 funcref) ${expressions.repeat(3)})`)), "table-above-cap");
  });

  test("types, exports and custom sections by the hundred thousand", () => {
    const exported = Array.from({ length: 10_001 }, (_, index) => `(export "${index}" (func $f))`);
    assert.equal(reasonOf(assemble(`(module (func $f) ${exported.join("")})`)), "too-many-parts");
    assert.equal(reasonOf(assemble(`(module (func $f) ${exported.slice(1).join("")})`)), "taken");
    assert.equal(reasonOf(moduleOf({ types: 100_001, body: [] })), "too-many-parts");
    assert.equal(reasonOf(concat([HEADER, repeat([0, 1, 0], 1000)])), "taken");
    assert.equal(reasonOf(concat([HEADER, repeat([0, 1, 0], 100_000)])), "too-many-parts");
  });
});

test("a granted import has the type it is granted with, where there is one", () => {
  const importType = { params: new Uint8Array([I32]), results: new Uint8Array([I64]) };
  const ask = (what: string) =>
    reasonOf(assemble(`(module (import "env" "host" (${what})))`), { ...OPTIONS, importType });
  assert.equal(ask("func (param i32) (result i64)"), "taken");
  for (const other of ["func", "func (param i64) (result i64)", "func (param i32 i32) (result i64)", "global i64"])
    assert.equal(ask(other), "import-not-granted", other);
});

/** One function, of the first of many types without parameters and results. */
function moduleOf(parts: {
  readonly types: number;
  readonly body: readonly number[];
  readonly element?: readonly number[];
}): Uint8Array {
  const { types, body, element } = parts;
  return concat([
    HEADER,
    section(1, [u32(types), repeat(NO_VALUES, types)]),
    section(3, [[1, 0]]),
    section(5, [[1, 0, 1]]),
    element === undefined ? [] : section(9, [element]),
    section(10, [[1, ...u32(body.length + 2), 0], body, [0x0b]]),
  ]);
}

function reasonOf(bytes: Uint8Array, options: MeterOptions = OPTIONS): string {
  const answer = meterModule(bytes, options);
  return answer.ok ? "taken" : answer.reason;
}
