import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { METER_VERSION } from "./cost-table.ts";
import { METER_REASONS } from "./meter-reason.ts";
import { metered, start } from "./testing/run-metered.ts";

const REPOSITORY = new URL("../../../", import.meta.url);
const PAGE = readFileSync(new URL("docs/formats/wasm-meter.md", REPOSITORY), "utf8");

/** By version: of each module the hash of its metered bytes, and what one round of it costs. Never change a line. */
const FROZEN: ReadonlyMap<number, Readonly<Record<string, readonly [hash: string, cost: bigint]>>> = new Map([
  [
    1,
    {
      sieve: ["d2a1fdd305c2e67131ee379eb8ac71b71f8696fc105f5bd19d4435b524783c77", 3_657_019n],
      matrix: ["0b243fc440cf6a281b6b9c7e2ad18f72a5b49df0696b1e26afec91d378890eb8", 12_279_606n],
      sort: ["33969855e49bfba255273198bc90e8001c5cea369319204397ef4909e02309f5", 9_054_275n],
      hash: ["94e3cc7974c8c3e076135dd541361b10a05e56be04397311d0283f392c0c3059", 9_068_586n],
      interpreter: ["2e9276939beecc5ed27eacb57d86023af68e0123ce723318edf02508500d6939", 3_870_312n],
      json: ["57cd7bc95db6912c66d2ff8c0c19f03119befacb54418b0cff5ef844a5aa4c50", 4_440n],
      recursion: ["63fc23efd874972bbb6c5be4a58e273f5d48b303e47ff234a274361db6a1e812", 291_372n],
    },
  ],
]);

suite("what a version of the meter fixes", () => {
  for (const name of ["sieve", "matrix", "sort", "hash", "interpreter", "json", "recursion"]) {
    test(`${name} is rewritten to the same bytes, and costs the same`, () => {
      const module = new Uint8Array(readFileSync(new URL(`bench/families/wasm/kernels/${name}.wasm`, REPOSITORY)));
      const answer = metered(module);
      const ran = start(answer, { fuel: 10n ** 12n }).call("run", 1);
      const hash = createHash("sha256").update(answer.code).digest("hex");
      assert.deepEqual(
        [hash, "used" in ran ? ran.used : -1n],
        FROZEN.get(METER_VERSION)?.[name],
        "what modules become or cost has changed: raise METER_VERSION",
      );
    });
  }
});

suite("the page about the meter", () => {
  test("names the version and every reason", () => {
    assert.ok(PAGE.includes(`**meter version, ${METER_VERSION}**`));
    for (const reason of Object.keys(METER_REASONS)) assert.ok(PAGE.includes(`\`${reason}\``), reason);
  });

  test("names the cost of every instruction that it names", () => {
    const rows = [...PAGE.matchAll(/^\| (`[a-z0-9_.`, ]+`) \| (\d+)(?: and [^|]*)? \|$/gm)];
    const named = rows.flatMap(([, names = "", cost]) =>
      names
        .replaceAll("`", "")
        .split(", ")
        .map((name) => [name, BigInt(cost ?? -1)] as const),
    );
    assert.deepEqual(named.map(([name]) => name).sort(), Object.keys(SAMPLES).sort());
    for (const [name, cost] of named) {
      const sample = SAMPLES[name];
      assert.ok(sample !== undefined, `no sample of \`${name}\``);
      const { body, besides } = sample;
      const ran = start(metered(`(module ${SURROUNDINGS} (func (export "f") ${body}))`)).call("f");
      assert.equal("used" in ran ? ran.used : ran.end, cost + besides, name);
    }
  });
});

const SURROUNDINGS =
  '(memory 1) (table 4 funcref) (type $t (func)) (func $g) (elem (i32.const 0) $g) (elem $e func $g) (data $d "x")';

/** Of each instruction a body with it, and what the others in that body cost. */
const SAMPLES: Readonly<Record<string, { readonly body: string; readonly besides: bigint }>> = {
  nop: { body: "nop", besides: 0n },
  block: { body: "(block)", besides: 0n },
  loop: { body: "(loop)", besides: 0n },
  else: { body: "(if (i32.const 0) (then) (else))", besides: 2n },
  end: { body: "(block)", besides: 0n },
  br_table: { body: "(block (br_table 0 (i32.const 0)))", besides: 1n },
  "table.get": { body: "(drop (table.get 0 (i32.const 0)))", besides: 2n },
  call: { body: "(call $g)", besides: 0n },
  "table.set": { body: "(table.set 0 (i32.const 0) (ref.null func))", besides: 2n },
  call_indirect: { body: "(call_indirect (type $t) (i32.const 0))", besides: 1n },
  ...Object.fromEntries(
    ["i32", "i64"].flatMap((type) =>
      ["div_s", "div_u", "rem_s", "rem_u"].map((operation) => [
        `${type}.${operation}`,
        { body: `(drop (${type}.${operation} (${type}.const 1) (${type}.const 1)))`, besides: 3n },
      ]),
    ),
  ),
  "f32.div": { body: "(drop (f32.div (f32.const 1) (f32.const 1)))", besides: 3n },
  "f64.div": { body: "(drop (f64.div (f64.const 1) (f64.const 1)))", besides: 3n },
  "f32.sqrt": { body: "(drop (f32.sqrt (f32.const 1)))", besides: 2n },
  "f64.sqrt": { body: "(drop (f64.sqrt (f64.const 1)))", besides: 2n },
  "ref.func": { body: "(drop (ref.func $g))", besides: 1n },
  "data.drop": { body: "(data.drop $d)", besides: 0n },
  "elem.drop": { body: "(elem.drop $e)", besides: 0n },
  "memory.init": { body: "(memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))", besides: 3n },
  "memory.copy": { body: "(memory.copy (i32.const 0) (i32.const 0) (i32.const 15))", besides: 4n },
  "memory.fill": { body: "(memory.fill (i32.const 0) (i32.const 0) (i32.const 16))", besides: 5n },
  "table.init": { body: "(table.init $e (i32.const 0) (i32.const 0) (i32.const 1))", besides: 4n },
  "table.copy": { body: "(table.copy (i32.const 0) (i32.const 0) (i32.const 3))", besides: 6n },
  "table.fill": { body: "(table.fill 0 (i32.const 0) (ref.null func) (i32.const 4))", besides: 7n },
  "table.grow": { body: "(drop (table.grow 0 (ref.null func) (i32.const 5)))", besides: 3n + 5n },
  "memory.grow": { body: "(drop (memory.grow (i32.const 2)))", besides: 2n + 2n * 8192n },
};
