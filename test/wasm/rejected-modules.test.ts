import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError, type JsonObject } from "@narthex/contracts";
import { findTools } from "@narthex/host";
import { sampled } from "../sampled.ts";
import { failureOf } from "../tools/program-home.ts";
import { assemble, createWasmHome, tell, type WasmHome } from "./wasm-home.ts";

const ABI = `(memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 0))
  (func (export "run") (param i32 i32) (result i64) (i64.const 0))`;

/** Each a module that must not be added, and the reason that is given. */
const REJECTED: readonly (readonly [what: string, text: string, reason: RegExp, declared?: JsonObject])[] = [
  ["an import that was not granted", `(import "env" "now" (func)) ${ABI}`, /import-not-granted.*env/],
  [
    "an import of WASI",
    `(import "wasi_snapshot_preview1" "path_open" (func (param i32) (result i32))) ${ABI}`,
    /import-not-granted/,
  ],
  [
    "a host of another type, which stands for `alloc`: it would call itself without end",
    `(import "narthex" "host" (func $host (param i32) (result i32))) (export "alloc" (func $host))
      ${ABI.replace('"alloc"', '"other"')}`,
    /import-not-granted.*another type/,
  ],
  ["a memory of 4 GB", ABI.replace('"memory") 1', '"memory") 65536'), /memory-above-cap/],
  ["more memory than its own bound", ABI.replace('"memory") 1', '"memory") 300'), /memory-above-cap/],
  ["a shared memory", ABI.replace('"memory") 1', '"memory") 1 1 shared'), /shared-memory/],
  [
    "a memory from outside",
    `(import "narthex" "memory" (memory 1)) ${ABI.slice(ABI.indexOf("\n"))}`,
    /imported-memory|import-not-granted/,
  ],
  [
    "SIMD, in a tool that is pure",
    `${ABI} (func (drop (i8x16.add (v128.const i64x2 0 0) (v128.const i64x2 0 0))))`,
    /simd/,
  ],
  [
    "SIMD, in a tool that is deterministic",
    `${ABI} (func (drop (i8x16.add (v128.const i64x2 0 0) (v128.const i64x2 0 0))))`,
    /simd/,
    { determinism: "deterministic" },
  ],
  ["an exception", `${ABI} (tag $t) (func (throw $t))`, /exceptions/],
  ["a tail call", `${ABI} (func $f (return_call $f))`, /tail-calls/],
  ["a memory of 64 bits", ABI.replace('"memory") 1', '"memory") i64 1'), /memory64/],
];

const FLAGS = ["--enable-all", "--no-check"];

describe("a module that cannot be limited", { timeout: 300_000 }, () => {
  let home: WasmHome;
  before(async () => {
    home = await createWasmHome();
  });
  after(() => home.at.remove());

  async function problemOf(module: Uint8Array, declared: JsonObject = {}): Promise<string> {
    try {
      await findTools(await home.writeModule(module, { name: "hostile", ...declared }));
    } catch (fault) {
      assert.ok(isKernelError(fault), String(fault));
      assert.equal(fault.code, "INVALID_DECLARATION");
      return fault.message;
    }
    assert.fail("it was taken");
  }

  for (const [what, text, reason, declared] of sampled(REJECTED, 6)) {
    it(`is not added, and the reason is reported: ${what}`, async () => {
      assert.match(await problemOf(await assemble(`(module ${text})`, ...FLAGS), declared), reason);
    });
  }

  it("is not added if it is no module, truncated, or a component", async () => {
    const whole = await assemble(`(module ${ABI})`);
    const component = Uint8Array.of(0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0);
    assert.match(await problemOf(Buffer.from("no module at all")), /rejected \(not-a-module\)/);
    assert.match(await problemOf(whole.slice(0, -3)), /rejected \(invalid\)/);
    assert.match(await problemOf(component), /rejected \(component\)/);
  });

  it("may use SIMD in a tool that is not declared deterministic", async () => {
    const text = `(module ${ABI} (func (drop (i8x16.add (v128.const i64x2 0 0) (v128.const i64x2 0 0)))))`;
    const path = await home.writeModule(await assemble(text), { name: "wide", determinism: "nondeterministic" });
    assert.equal((await findTools(path)).tools.length, 1);
  });
});

describe("a module's declaration", { timeout: 300_000 }, () => {
  let home: WasmHome;
  before(async () => {
    home = await createWasmHome();
  });
  after(() => home.at.remove());

  const problemOf = async (path: string): Promise<string> => {
    try {
      await findTools(path);
    } catch (fault) {
      assert.ok(isKernelError(fault), String(fault));
      return [fault.message, ...fault.violations.map(({ field, message }) => `${field}: ${message}`)].join("\n");
    }
    assert.fail("it was taken");
  };

  /** With custom sections, the given one last. */
  const withSections = async (...sections: readonly string[]): Promise<Uint8Array> => {
    const parts: Uint8Array[] = [await assemble(`(module ${ABI})`)];
    for (const text of sections) {
      const name = Buffer.from("narthex.tool");
      const body = Buffer.concat([Buffer.of(name.length), name, Buffer.from(text)]);
      parts.push(Buffer.of(0, (body.length & 0x7f) | 0x80, body.length >> 7), body);
    }
    return Buffer.concat(parts);
  };

  const DECLARED = { name: "own", version: "1.0.0", description: "Says so itself.", input_schema: true };
  const WHOLE = { ...DECLARED, effects: [], determinism: "pure", tier: "read_only" };

  it("is read from its custom section, from the manifest beside it, or from one that names it", async () => {
    const [own] = (await findTools(await home.writeModule(await withSections(JSON.stringify(WHOLE)), {}))).tools;
    assert.deepEqual([own?.declaration.name, own?.declaration.bounds.maxFuel], ["own", 1e10]);
    const plain = await home.writeModule(await assemble(`(module ${ABI})`), { name: "beside" });
    assert.equal((await findTools(plain)).tools[0]?.declaration.name, "beside");
    const manifest = join(dirname(plain), "other.json");
    await writeFile(manifest, JSON.stringify({ ...WHOLE, name: "named", module: "./tool.wasm" }));
    assert.equal((await findTools(manifest)).tools[0]?.declaration.name, "named");
    assert.deepEqual((await findTools(manifest)).paths.length, 2);
  });

  it("is rejected with every problem: impossible effects, bounds above a module's, missing capabilities", async () => {
    const declared = {
      name: "wrong",
      effects: ["process_spawn"],
      preset: "endless",
      bounds: { max_memory_bytes: 2 ** 31, max_cpu_ms: 5 },
      capabilities: [{ kind: "wasm_exec", max_fuel: 1, max_memory_bytes: 1 }],
    };
    const problems = await problemOf(await home.writeModule(await assemble(`(module ${ABI})`), declared));
    for (const field of ["effects[0]", "preset", "bounds.max_memory_bytes", "bounds.max_cpu_ms", "capabilities[0]"]) {
      assert.ok(problems.includes(`${field}: `), `${field} in\n${problems}`);
    }
  });

  it("is rejected if its section is not JSON, or its manifest points elsewhere", async () => {
    assert.match(await problemOf(await home.writeModule(await withSections("{"), {})), /is not JSON/);
    const path = await home.writeModule(await assemble(`(module ${ABI})`), {});
    const manifest = join(dirname(path), "other.json");
    await writeFile(manifest, JSON.stringify({ ...WHOLE, module: "./../tool.wasm" }));
    assert.match(await problemOf(manifest), /must be a file beside the manifest/);
  });

  it("is its first section, and another one changes only the hash", async () => {
    const [one, two] = [
      await withSections(JSON.stringify(WHOLE)),
      await withSections(JSON.stringify(WHOLE), JSON.stringify({ ...WHOLE, name: "other", effects: ["fs_write"] })),
    ];
    const [first] = (await findTools(await home.writeModule(one, {}))).tools;
    const [second] = (await findTools(await home.writeModule(two, {}))).tools;
    assert.equal(second?.declaration.name, "own");
    assert.deepEqual(second?.declaration.effects, first?.declaration.effects);
    assert.notDeepEqual(second?.pin, first?.pin);
  });

  it("is rejected for a module without the required exports, by name or by type", async () => {
    assert.match(
      await problemOf(await home.writeModule(await assemble("(module)"), {})),
      /\(abi\): it exports no memory/,
    );
    const typed = ABI.replace("(param i32 i32) (result i64) (i64.const 0)", "(param i32) (result i32) (i32.const 0)");
    await home.at.add(await home.writeModule(await assemble(`(module ${typed})`), { name: "mistyped" }));
    await home.at.start();
    const { code, message } = failureOf(await home.at.call("mistyped", tell("b")));
    assert.equal(code, "EXECUTION_FAILED");
    assert.match(message, /does not keep to the ABI: it exports no function `run` that takes two i32/);
  });
});
