import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readTrapCause } from "./trap-cause.ts";
import { metered, type Ran, start } from "./testing/run-metered.ts";

suite("memory", () => {
  const text = (limits: string) => `(module (memory (export "memory") ${limits})
    (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
    (func (export "size") (result i32) (memory.size))
    (func (export "forever") (result i32) (loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (memory.size)))`;

  test("grows whenever it stays below the cap, and never beyond it", () => {
    const { call } = start(metered(text("1")));
    assert.deepEqual(
      [3, 0, 12, 1, -1, 65_535, 0].map((pages) => valueOf(call("grow", pages))),
      [1, 4, 4, -1, -1, -1, 16],
    );
    assert.equal(valueOf(start(metered(text("1"))).call("forever")), 16);
  });

  test("keeps a lower maximum of its own", () => {
    assert.equal(valueOf(start(metered(text("1 3"))).call("forever")), 3);
    assert.equal(valueOf(start(metered(text("1 65536"))).call("forever")), 16);
  });

  test("is paid for by the page, and not where it cannot grow", () => {
    const { call } = start(metered(text("1")));
    const none = usedOf(call("grow", 0));
    assert.equal(usedOf(call("grow", 100)), none);
    assert.equal(usedOf(call("grow", 5)), none + 5n * 8192n);
  });

  test("is exported for the host, whatever the module calls it", () => {
    const module = metered(text("2"));
    const memory = start(module).instance.exports[module.exports.memory ?? ""];
    assert.ok(memory instanceof WebAssembly.Memory);
    assert.equal(memory.buffer.byteLength, 2 * 65_536);
  });
});

suite("a table", () => {
  test("grows to the cap and not beyond, and is paid for by the entry", () => {
    const { call } = start(
      metered(`(module (table $a 1 funcref) (table $b 1 7 externref)
        (func (export "grow") (param i32) (result i32) (table.grow $a (ref.null func) (local.get 0)))
        (func (export "grow b") (param i32) (result i32) (table.grow $b (ref.null extern) (local.get 0))))`),
    );
    assert.deepEqual(
      [99, 1, -1, 0].map((entries) => valueOf(call("grow", entries))),
      [1, -1, -1, 100],
    );
    assert.deepEqual(
      [7, 6, 1].map((entries) => valueOf(call("grow b", entries))),
      [-1, 1, -1],
    );
    const fresh = start(
      metered(
        '(module (table 0 funcref) (func (export "f") (param i32) (drop (table.grow 0 (ref.null func) (local.get 0)))))',
      ),
    );
    const none = usedOf(fresh.call("f", 0));
    assert.equal(usedOf(fresh.call("f", 50)), none + 50n);
    assert.equal(usedOf(fresh.call("f", 51)), none);
  });
});

suite("call depth", () => {
  const module = metered(`(module
    (func $deep (export "deep") (param i32) (result i32)
      (if (result i32) (local.get 0)
        (then (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1)))))
        (else (i32.const 0))))
    (func $endless (export "endless") (call $endless))
    (type $t (func)) (table funcref (elem $indirect))
    (func $indirect (export "indirect") (call_indirect (type $t) (i32.const 0)))
    (func $wide (export "wide") (param i32) ${"(local i64)".repeat(1000)}
      (if (local.get 0) (then (call $wide (i32.sub (local.get 0) (i32.const 1))))))
    (func $leaf)
    (func (export "many") (param i32)
      (loop (call $leaf) (drop (call $deep (i32.const 3))) (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))`);

  test("ends a recursion at the same place each time", () => {
    assert.equal(valueOf(start(module).call("deep", 999)), 999);
    assert.equal(endOf(start(module).call("deep", 1000)), "depth");
    for (const name of ["endless", "indirect"]) {
      const first = start(module).call(name);
      assert.equal(endOf(first), "depth");
      assert.deepEqual(start(module).call(name), first);
    }
  });

  test("counts a function with many locals by its size", () => {
    assert.equal(endOf(start(module).call("wide", 20)), "depth");
    assert.equal(endOf(start(module).call("wide", 5)), "none");
  });

  test("is given back when a function returns", () => {
    const { call } = start(module, { depth: 6 });
    for (let time = 0; time < 3; time++) assert.equal(endOf(call("many", 50)), "none");
  });

  test("holds across a host that calls back", () => {
    const calling = metered(`(module (import "env" "host" (func $host (param i32)))
      (func (export "f") (param i32) (call $host (local.get 0)) (call $host (i32.const 0)) (call $nothing))
      (func $nothing (export "nothing") (call $inner)) (func $inner))`);
    const running = start(calling, {
      depth: 10,
      host: (left) => {
        const f = running.instance.exports["f"];
        if (Number(left) > 0 && typeof f === "function") f(Number(left) - 1);
      },
    });
    assert.equal(endOf(running.call("f", 8)), "none");
    assert.equal(endOf(running.call("f", 9)), "depth");
  });
});

suite("a start function", () => {
  const module = metered(`(module (global $ran (export "ran") (mut i32) (i32.const 0))
    (func $start (loop $again (global.set $ran (i32.const 1)) (br $again))) (start $start))`);

  test("runs no code before limits are set, and under them when it is called", () => {
    const running = start(module);
    const ran = running.instance.exports["ran"];
    assert.ok(ran instanceof WebAssembly.Global);
    assert.equal(ran.value, 0);
    assert.equal(endOf(running.call(module.exports.start ?? "")), "fuel");
    assert.equal(ran.value, 1);
  });
});

suite("after a trap the globals tell", () => {
  for (const [globals, end] of [
    [{ fuel: -1n, depth: 5 }, "fuel"],
    [{ fuel: 0n, depth: -1 }, "depth"],
    [{ fuel: 0n, depth: -0x8000_0000 }, "memory"],
    [{ fuel: 0n, depth: 0 }, "trap"],
  ] as const) {
    test(end, () => assert.equal(readTrapCause(globals), end));
  }
});

function valueOf(ran: Ran): unknown {
  assert.ok("value" in ran, `ended by \`${"end" in ran ? ran.end : ""}\``);
  return ran.value;
}

function usedOf(ran: Ran): bigint {
  return "used" in ran ? ran.used : -1n;
}

function endOf(ran: Ran): string {
  return "end" in ran ? ran.end : "none";
}
