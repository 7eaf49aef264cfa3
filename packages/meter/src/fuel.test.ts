import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { metered, type Ran, start } from "./testing/run-metered.ts";

/** Sums up to a number, in a loop, with a call of its own in each round, or by calling itself. */
const SUMS = `(module
  (func (export "loop") (param i32) (result i32) (local i32)
    (loop
      (local.set 1 (i32.add (local.get 1) (local.get 0)))
      (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func $add (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
  (func (export "calls") (param i32) (result i32) (local i32)
    (loop
      (local.set 1 (call $add (local.get 1) (local.get 0)))
      (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
    (local.get 1))
  (func $self (export "self") (param i32) (result i32)
    (if (result i32) (local.get 0)
      (then (i32.add (local.get 0) (call $self (i32.sub (local.get 0) (i32.const 1)))))
      (else (i32.const 0))))
  (func (export "endless") (loop (br 0)))
  (func (export "endless calls") (loop (drop (call $add (i32.const 1) (i32.const 2))) (br 0)))
  (func (export "endless blocks") (loop (block (loop (block (br 3))))))
  (func (export "trap") (param i32) (drop (i32.div_u (i32.const 1) (local.get 0)))))`;

suite("fuel", () => {
  const module = metered(SUMS);

  for (const name of ["loop", "calls", "self"]) {
    test(`that is exactly the cost is enough, one less is not: ${name}`, () => {
      const plenty = start(module).call(name, 100);
      const cost = costOf(plenty);
      assert.deepEqual(start(module, { fuel: cost }).call(name, 100), { value: 5050, used: cost });
      assert.equal(endOf(start(module, { fuel: cost - 1n }).call(name, 100)), "fuel");
      assert.equal(endOf(start(module, { fuel: 0n }).call(name, 100)), "fuel");
    });
  }

  test("grows with the work, by the same for each round", () => {
    const { call } = start(module);
    const costs = [1, 2, 3, 50].map((rounds) => costOf(call("loop", rounds)));
    const round = (costs[1] ?? 0n) - (costs[0] ?? 0n);
    assert.equal(round, 9n);
    assert.equal(costs[2], (costs[0] ?? 0n) + 2n * round);
    assert.equal(costs[3], (costs[0] ?? 0n) + 49n * round);
  });

  for (const name of ["endless", "endless calls", "endless blocks"]) {
    test(`ends what would not: ${name}`, () => {
      const first = start(module).call(name);
      assert.equal(endOf(first), "fuel");
      assert.deepEqual(start(module).call(name), first);
    });
  }

  test("that is left after a trap is the same each time, and is not out of fuel", () => {
    const first = start(module).call("trap", 0);
    assert.equal(endOf(first), "trap");
    assert.deepEqual(start(module).call("trap", 0), first);
    assert.equal("left" in first && first.left, 1_000_000n - 11n);
  });

  test("is nothing before it is set", () => {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(module.code));
    const run = instance.exports["loop"];
    assert.ok(typeof run === "function");
    assert.throws(() => run(1), WebAssembly.RuntimeError);
  });

  test("pays for many bytes and entries by their number", () => {
    const bulk = metered(`(module (memory 16) (table 100 funcref) (elem func 0 0 0 0) (data "0123456789abcdef")
      (func (export "fill") (param i32) (memory.fill (i32.const 0) (i32.const 1) (local.get 0)))
      (func (export "copy") (param i32) (memory.copy (i32.const 0) (i32.const 1) (local.get 0)))
      (func (export "init") (param i32) (memory.init 0 (i32.const 0) (i32.const 0) (local.get 0)))
      (func (export "table fill") (param i32) (table.fill 0 (i32.const 0) (ref.null func) (local.get 0)))
      (func (export "table copy") (param i32) (table.copy (i32.const 0) (i32.const 0) (local.get 0)))
      (func (export "table init") (param i32) (table.init 0 (i32.const 0) (i32.const 0) (local.get 0))))`);
    const more = (name: string, count: number) => {
      const { call } = start(bulk);
      return costOf(call(name, count)) - costOf(call(name, 0));
    };
    assert.equal(more("fill", 800_000), 100_000n);
    assert.equal(more("copy", 80_000), 10_000n);
    assert.equal(more("init", 16), 2n);
    assert.equal(more("table fill", 100), 100n);
    assert.equal(more("table copy", 100), 100n);
    assert.equal(more("table init", 4), 4n);
    assert.equal(endOf(start(bulk, { fuel: 1000n }).call("fill", 1_000_000)), "fuel");
    assert.equal(endOf(start(bulk).call("fill", 1_048_577)), "trap");
    // What is longer than all there is does nothing, and traps as it would without the meter.
    for (const name of ["fill", "copy", "init", "table fill", "table copy", "table init"])
      assert.equal(endOf(start(bulk, { fuel: 200n }).call(name, -1)), "trap", name);
  });

  test("that a host takes while it is called is not given back", () => {
    const calling = metered('(module (import "env" "host" (func)) (func (export "f") (call 0)) (func (export "g")))');
    const running = start(calling, {
      host: () => {
        const fuel = running.instance.exports[calling.exports.fuel];
        if (fuel instanceof WebAssembly.Global) fuel.value = BigInt(String(fuel.value)) - 500n;
      },
    });
    assert.equal(costOf(running.call("f")), 500n + 68n);
  });

  test("is charged for code that is larger than one charge can say", () => {
    const long = metered(`(module (memory 1) (func (export "f") ${"(drop (memory.grow (i32.const 0)))".repeat(600)}))`);
    const fuel = 10_000_000n;
    const cost = costOf(start(long, { fuel }).call("f"));
    assert.equal(cost, 600n * 4098n);
    assert.equal(endOf(start(long, { fuel: cost - 1n }).call("f")), "fuel");
  });
});

function costOf(ran: Ran): bigint {
  assert.ok("used" in ran, `ended by \`${"end" in ran ? ran.end : ""}\``);
  return ran.used;
}

function endOf(ran: Ran): string {
  return "end" in ran ? ran.end : "none";
}
