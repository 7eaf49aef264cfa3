import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { metered, type Ran, start } from "./testing/run-metered.ts";

const CANONICAL = 0x7ff8_0000_0000_0000n;
/** What arithmetic on x64 gives has the sign set, on arm64 it has not. */
const ZERO_BY_ZERO = "(f64.div (local.get $x) (local.get $x))";

/** Ways on which the bits of a NaN could be seen, each giving them as an i64. */
const WAYS: readonly (readonly [way: string, body: string])[] = [
  ["reinterpreted", `(i64.reinterpret_f64 ${ZERO_BY_ZERO})`],
  ["stored", `(f64.store (i32.const 8) ${ZERO_BY_ZERO}) (i64.load (i32.const 8))`],
  ["by a local", `(local.set $y ${ZERO_BY_ZERO}) (i64.reinterpret_f64 (local.get $y))`],
  ["by a teed local", `(i64.reinterpret_f64 (local.tee $y ${ZERO_BY_ZERO}))`],
  ["by a global", `(global.set $g ${ZERO_BY_ZERO}) (i64.reinterpret_f64 (global.get $g))`],
  ["by a call", `(call $bits ${ZERO_BY_ZERO})`],
  ["by a call with operands above", `(call $first ${ZERO_BY_ZERO} (i32.const 1) ${ZERO_BY_ZERO} (i64.const 2))`],
  ["by an indirect call", `(call_indirect (type $bits) ${ZERO_BY_ZERO} (i32.const 0))`],
  ["returned", "(i64.reinterpret_f64 (call $divide (local.get $x)))"],
  ["by a block", `(i64.reinterpret_f64 (block (result f64) ${ZERO_BY_ZERO}))`],
  ["by a branch", `(i64.reinterpret_f64 (block (result f64) (br 0 ${ZERO_BY_ZERO})))`],
  ["by a branch on a condition", `(i64.reinterpret_f64 (block (result f64) (br_if 0 ${ZERO_BY_ZERO} (i32.const 1))))`],
  ["by a table of branches", `(i64.reinterpret_f64 (block (result f64) (br_table 0 0 ${ZERO_BY_ZERO} (i32.const 1))))`],
  [
    "by the arm of an if",
    `(i64.reinterpret_f64 (if (result f64) (i32.const 1) (then ${ZERO_BY_ZERO}) (else (f64.const 1))))`,
  ],
  ["into a block", `${ZERO_BY_ZERO} (block (param f64) (result i64) i64.reinterpret_f64)`],
  ["into a loop", `${ZERO_BY_ZERO} (loop (param f64) (result i64) i64.reinterpret_f64)`],
  ["selected first", `(i64.reinterpret_f64 (select ${ZERO_BY_ZERO} (f64.const 1) (i32.const 1)))`],
  ["selected second", `(i64.reinterpret_f64 (select (result f64) (f64.const 1) ${ZERO_BY_ZERO} (i32.const 0)))`],
  ["negated", `(i64.reinterpret_f64 (f64.neg ${ZERO_BY_ZERO}))`],
  ["promoted", "(i64.reinterpret_f64 (f64.promote_f32 (f32.demote_f64 (f64.sqrt (f64.const -1)))))"],
];

suite("the NaN of arithmetic is the canonical one", () => {
  const module = metered(`(module (memory 1) (type $bits (func (param f64) (result i64)))
    (table funcref (elem $bits)) (global $g (mut f64) (f64.const 0))
    (func $bits (type $bits) (i64.reinterpret_f64 (local.get 0)))
    (func $first (param f64 i32 f64 i64) (result i64) (i64.reinterpret_f64 (local.get 0)))
    (func $divide (param $x f64) (result f64) ${ZERO_BY_ZERO})
    ${WAYS.map(([way, body]) => `(func (export "${way}") (param $x f64) (result i64) (local $y f64) ${body})`).join("\n")})`);

  for (const [way] of WAYS) {
    test(way, () => assert.equal(valueOf(start(module).call(way, 0)), CANONICAL));
  }

  test("where only its sign could be seen", () => {
    const { call } = start(
      metered(
        '(module (func (export "f") (param f64) (result f64) (f64.copysign (f64.const 3) (f64.div (local.get 0) (local.get 0)))))',
      ),
    );
    assert.equal(valueOf(call("f", 0)), 3);
  });

  test("in 32 bits", () => {
    const { call } = start(
      metered(
        '(module (func (export "f") (param f32) (result i32) (i32.reinterpret_f32 (f32.sub (local.get 0) (local.get 0)))))',
      ),
    );
    assert.equal(valueOf(call("f", Number.POSITIVE_INFINITY)), 0x7fc0_0000);
  });

  test("where a host gives one", () => {
    const { call } = start(
      metered(
        '(module (import "env" "number" (func $n (result f64))) (func (export "f") (result i64) (i64.reinterpret_f64 (call $n))))',
      ),
      { host: () => new Float64Array(new BigUint64Array([0xfff8_0000_dead_beefn]).buffer)[0] },
    );
    assert.equal(valueOf(call("f")), CANONICAL);
  });
});

test("so is one that a host gives through a table", () => {
  const { call } = start(
    metered(`(module (type $t (func (result f64))) (import "env" "number" (func $n (type $t)))
      (table funcref (elem $n)) (func (export "f") (result i64)
      (i64.reinterpret_f64 (call_indirect (type $t) (i32.const 0)))))`),
    { host: () => new Float64Array(new BigUint64Array([0xfff8_0000_dead_beefn]).buffer)[0] },
  );
  assert.equal(valueOf(call("f")), CANONICAL);
});

suite("a NaN whose bits the specification fixes keeps them", () => {
  const bits = 0x7ff4_0000_dead_beefn;
  const module = metered(`(module (memory 1) (global $g (mut f64) (f64.const 0))
    (func (export "constant") (param i64) (result i64) (i64.reinterpret_f64 (f64.const nan:0x40000deadbeef)))
    (func (export "reinterpreted") (param i64) (result i64) (i64.reinterpret_f64 (f64.reinterpret_i64 (local.get 0))))
    (func (export "loaded") (param i64) (result i64) (local f64)
      (i64.store (i32.const 0) (local.get 0))
      (local.set 1 (f64.load (i32.const 0)))
      (global.set $g (local.get 1))
      (f64.store (i32.const 8) (global.get $g))
      (i64.load (i32.const 8)))
    (func (export "negated twice") (param i64) (result i64)
      (i64.reinterpret_f64 (f64.neg (f64.neg (f64.reinterpret_i64 (local.get 0))))))
    (func (export "with a sign") (param i64) (result i64)
      (i64.reinterpret_f64 (f64.copysign (f64.reinterpret_i64 (local.get 0)) (f64.const 1))))
    (func (export "selected beside arithmetic") (param i64) (result i64)
      (i64.reinterpret_f64 (select (f64.reinterpret_i64 (local.get 0)) (f64.div (f64.const 0) (f64.const 0)) (i32.const 1)))))`);

  for (const way of [
    "constant",
    "reinterpreted",
    "loaded",
    "negated twice",
    "with a sign",
    "selected beside arithmetic",
  ]) {
    test(way, () => assert.equal(valueOf(start(module).call(way, bits)), bits));
  }
});

function valueOf(ran: Ran): unknown {
  assert.ok("value" in ran, `ended by \`${"end" in ran ? ran.end : ""}\``);
  return ran.value;
}
