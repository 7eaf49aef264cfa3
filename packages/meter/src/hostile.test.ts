import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { runsOf } from "../../../test/sampled.ts";
import { meterModule } from "./meter-module.ts";
import { METER_REASONS } from "./meter-reason.ts";
import { assemble } from "./testing/assemble.ts";
import { buildModule, concat, repeat, u32 } from "./testing/build-module.ts";
import { metered, OPTIONS, type Ran, start } from "./testing/run-metered.ts";

const [BLOCK, LOOP, IF, END, BR] = [0x02, 0x03, 0x04, 0x0b, 0x0c];
const EMPTY = 0x40;
const DEEP = 50_000;

suite("a module is taken, however it is made, with", () => {
  test("100,000 functions", () => {
    const module = metered(buildModule(Array.from({ length: 100_000 }, () => ({ body: new Uint8Array([0x10, 0]) }))));
    assert.equal(module.facts.functions, 100_000);
    assert.equal(endOf(start(module).call("f")), "depth");
  });

  test("blocks, loops and arms in each other, 50,000 deep", () => {
    for (const open of [
      [BLOCK, EMPTY],
      [LOOP, EMPTY],
      [0x41, 1, IF, EMPTY],
    ]) {
      const module = metered(buildModule([{ body: concat([repeat(open, DEEP), repeat([END], DEEP)]) }]));
      assert.equal(endOf(start(module).call("f")), "none");
    }
  });

  test("a branch out of all of them, and code behind it that no path reaches", () => {
    const dead = concat([repeat([BLOCK, EMPTY], DEEP), [BR, 0], repeat([END], DEEP)]);
    const body = concat([repeat([BLOCK, EMPTY], DEEP), [BR, ...u32(DEEP)], dead, repeat([END], DEEP)]);
    const module = metered(buildModule([{ body }]));
    assert.ok(module.code.length < body.length, "dead code was kept");
    assert.deepEqual(start(module).call("f"), { value: undefined, used: 1n });
  });

  test("a table of 60,000 branches", () => {
    const body = concat([[BLOCK, EMPTY, 0x41, 7, 0x0e], u32(60_000), repeat([0], 60_001), [END]]);
    assert.deepEqual(start(metered(buildModule([{ body }]))).call("f"), { value: undefined, used: 3n });
  });

  test("bodies that are empty, and a million numbers dropped in one run after another", () => {
    assert.deepEqual(start(metered(buildModule([{ body: new Uint8Array(0) }]))).call("f"), {
      value: undefined,
      used: 0n,
    });
    const module = metered(buildModule([{ body: repeat([0x41, 0, 0x1a], 1_000_000) }]));
    assert.deepEqual(start(module, { fuel: 3_000_000n }).call("f"), { value: undefined, used: 2_000_000n });
    assert.equal(endOf(start(module, { fuel: 1_999_999n }).call("f")), "fuel");
  });

  test("numbers of more bytes than they need", () => {
    const module = metered(buildModule([{ body: new Uint8Array([0x41, 0x80, 0x80, 0x80, 0x80, 0x00, 0x1a]) }]));
    assert.deepEqual(start(module).call("f"), { value: undefined, used: 2n });
  });

  test("locals by the thousand, which every call pays for", () => {
    const module = metered(buildModule([{ body: new Uint8Array(0), locals: [[40_000, 0x7e]] }]));
    assert.equal(endOf(start(module, { depth: 1000 }).call("f")), "depth");
    assert.deepEqual(start(module, { depth: 3000 }).call("f"), { value: undefined, used: 10_000n });
  });
});

suite("a module is rejected, and nothing is thrown, for", () => {
  test("locals up to V8's limit, which leave no room for the meter's", () => {
    assert.equal(reasonOf(buildModule([{ body: new Uint8Array(0), locals: [[50_000, 0x7e]] }])), "not-metered");
  });

  test("a body that is too long for V8 once it is metered", () => {
    // if (0) { nop; drop 0 }, each arm a run of its own
    const body = repeat([0x41, 0, IF, EMPTY, 0x41, 0, 0x1a, END], 250_000);
    assert.equal(reasonOf(buildModule([{ body }])), "not-metered");
  });

  test("any damage to a module: a reason of the list, or a module that is valid", () => {
    const original = assemble(`(module (import "env" "host" (func $h (param i32) (result i32)))
      (memory 1 2) (table 3 funcref) (global $g (mut f64) (f64.const 1)) (elem (i32.const 0) $a $b) (data (i32.const 3) "text")
      (func $a (param i32 f64) (result f64) (local i64 f32)
        (block (loop (br_if 1 (i32.eqz (local.get 0))) (local.set 0 (i32.sub (local.get 0) (i32.const 1)))
          (global.set $g (f64.mul (global.get $g) (local.get 1))) (br 0)))
        (if (result f64) (call $h (local.get 0)) (then (global.get $g)) (else (f64.neg (local.get 1)))))
      (func $b (param i32) (result i32) (memory.fill (i32.const 0) (i32.const 1) (local.get 0)) (memory.grow (i32.const 1)))
      (func (export "run") (result f64) (call_indirect (param i32 f64) (result f64) (i32.const 3) (f64.const 2) (i32.const 0))))`);
    const damage = fc.array(fc.tuple(fc.nat(original.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    const cut = fc.option(fc.nat(original.length));
    fc.assert(
      fc.property(damage, cut, (changes, length) => {
        const bytes = original.slice(0, length ?? original.length);
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        const answer = meterModule(bytes, OPTIONS);
        if (answer.ok) assert.ok(WebAssembly.validate(answer.code));
        else {
          assert.ok(Object.hasOwn(METER_REASONS, answer.reason));
          assert.ok(answer.reason !== "not-metered", answer.message);
          assert.doesNotMatch(answer.message, /\n/);
        }
      }),
      { numRuns: runsOf(3000) },
    );
  });

  test("random bytes after a good beginning", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (tail) => {
        const answer = meterModule(concat([[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], tail]), OPTIONS);
        assert.ok(answer.ok || Object.hasOwn(METER_REASONS, answer.reason));
      }),
      { numRuns: runsOf(2000) },
    );
  });
});

function reasonOf(bytes: Uint8Array): string {
  const answer = meterModule(bytes, OPTIONS);
  return answer.ok ? "taken" : answer.reason;
}

function endOf(ran: Ran): string {
  return "end" in ran ? ran.end : "none";
}
