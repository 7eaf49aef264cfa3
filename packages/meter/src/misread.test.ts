import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { meterModule } from "./meter-module.ts";
import type { MeterOptions } from "./meter-options.ts";
import { assemble } from "./testing/assemble.ts";
import { concat, section } from "./testing/build-module.ts";
import { HEADER, hiddenLoop, manySections, manyTyped, NO_VALUES, overlongBlock } from "./testing/misread-modules.ts";
import { OPTIONS } from "./testing/run-metered.ts";
import { I32, I64 } from "./value-type.ts";

/** What V8 reads in another way than it looks must not be metered in the way it looks. */
suite("a module is rejected whose bytes would be misread:", () => {
  for (const [what, isReached] of [
    ["a loop in what looks like the offset of a load", true],
    ["the same, where no path leads", false],
  ] as const) {
    test(`select with a type of several bytes, and ${what}`, () => {
      const bytes = hiddenLoop({ isReached });
      assert.ok(WebAssembly.validate(bytes), "V8 does not take it: this shows nothing");
      assert.equal(reasonOf(bytes), "function-references");
    });
  }

  test("a block without results, whose negative number looks like the index of a type", () => {
    const bytes = overlongBlock();
    assert.ok(WebAssembly.validate(bytes), "V8 does not take it: this shows nothing");
    assert.equal(reasonOf(bytes), "invalid");
  });

  test("but indexes of types that are numbers of several bytes are taken", () => {
    for (const index of [0x3f, 0x40, 0x1fff, 0x2000, 0x3fc0]) {
      const signed = index < 0x40 ? [index] : [(index & 0x7f) | 0x80, ((index >> 7) & 0x7f) | 0x80, 0];
      assert.equal(reasonOf(manyTyped({ types: 0x3fc1, body: [0x02, ...signed, 0x0b] })), "taken", String(index));
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
    assert.equal(reasonOf(manyTyped({ types: 100_001, body: [] })), "too-many-parts");
    assert.equal(reasonOf(manySections(1000)), "taken");
    assert.equal(reasonOf(manySections(100_000)), "too-many-parts");
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

function reasonOf(bytes: Uint8Array, options: MeterOptions = OPTIONS): string {
  const answer = meterModule(bytes, options);
  return answer.ok ? "taken" : answer.reason;
}
