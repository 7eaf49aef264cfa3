import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { WASM_PRESETS } from "@narthex/kernel";
import { answerOf, failureOf } from "../tools/program-home.ts";
import { assemble, createWasmHome, tell, type WasmHome } from "./wasm-home.ts";

const MB = 1024 * 1024;

describe("a module as a tool", { timeout: 300_000 }, () => {
  let home: WasmHome;
  const call = (tool: string, mode: string, code?: number, text?: string) => home.at.call(tool, tell(mode, code, text));
  before(async () => {
    home = await createWasmHome();
    await home.addProbe("probe");
    await home.addProbe("tight", { bounds: { max_fuel: 20_000, max_memory_bytes: 2 * MB, timeout_ms: 60_000 } });
    await home.addProbe("spins", { bounds: { max_fuel: 1_000_000_000_000, timeout_ms: 700 } });
    await home.addProbe("burns", { bounds: { max_fuel: 1_000_000_000_000, timeout_ms: 60_000 } });
    await home.addProbe("strict", { output_schema: { type: "object" }, result_type: "object" });
    for (const preset of ["minimal", "standard", "generous"]) await home.addProbe(preset, { preset, bounds: {} });
    await home.at.start();
    // From here on there is a host that has the module.
    answerOf(await call("probe", "b", 0, "1"));
  });
  after(() => home.at.remove());

  it("is registered with its schema, its bounds and its required capability", () => {
    const probe = home.at.kernel
      .listTools({ allVersions: false })
      .find(({ declaration }) => declaration.name === "minimal");
    const { source, isolation, bounds, capabilities, program } = probe?.declaration ?? assert.fail();
    assert.deepEqual([source, isolation], ["wasm", "wasm"]);
    assert.deepEqual([bounds.maxFuel, bounds.maxMemoryBytes, bounds.timeoutMs], [1e9, 16 * MB, 5000]);
    assert.deepEqual(capabilities, [{ kind: "wasm_exec", maxFuel: 1e9, maxMemoryBytes: 16 * MB }]);
    assert.match(program?.hash ?? "", /^[0-9a-f]{64}$/);
  });

  for (const [name, fuel, memoryBytes, timeoutMs] of [
    ["minimal", 1e9, 16 * MB, 5000],
    ["standard", 1e10, 64 * MB, 30_000],
    ["generous", 1e11, 256 * MB, 300_000],
  ] as const) {
    it(`of the preset ${name} has its fuel, memory and time`, async () => {
      assert.deepEqual(WASM_PRESETS[name], { fuel, memoryBytes, timeoutMs });
      // It gets all of the memory, and no page more.
      assert.equal(answerOf(await call(name, "m")), memoryBytes / 65_536);
      const { fuelLimit, memoryLimitBytes, memoryBytes: used } = await home.lastUse();
      assert.deepEqual([Number(fuelLimit), Number(memoryLimitBytes), Number(used)], [fuel, memoryBytes, memoryBytes]);
    });
  }

  it("returns JSON, in an instance of its own for each call, by the same fuel", async () => {
    const uses: bigint[] = [];
    for (let round = 0; round < 3; round++) {
      // What one call allocated, the next would find taken.
      assert.equal(answerOf(await call("probe", "b", 0, "1234")), 1234);
      uses.push((await home.lastUse()).fuelUsed);
    }
    assert.equal(new Set(uses).size, 1);
    assert.ok((uses[0] ?? 0n) > 0n);
    const hashes = new Set<string>();
    for (let round = 0; round < 2; round++) {
      const { response } = await call("probe", "b", 0, "[1,2]");
      const { value } = response.result;
      if (response.result.case === "success" && value !== undefined && "resultHash" in value) {
        hashes.add(Buffer.from(value.resultHash).toString("hex"));
      }
    }
    assert.equal(hashes.size, 1);
  });

  it("fails if it returns nothing, no JSON, or output outside its schema", async () => {
    assert.equal(failureOf(await call("probe", "n")).code, "INVALID_OUTPUT");
    assert.equal(failureOf(await call("probe", "t")).code, "INVALID_OUTPUT");
    assert.equal(failureOf(await call("strict", "b", 0, "[1]")).code, "INVALID_OUTPUT");
    assert.deepEqual(answerOf(await call("strict", "b", 0, "{}")), {});
  });

  it("fails by its own error, by a trap, or by an invalid memory address", async () => {
    const told = failureOf(await call("probe", "f"));
    assert.deepEqual([told.code, told.message], ["EXECUTION_FAILED", "it says: it was told to"]);
    assert.match(failureOf(await call("probe", "u")).message, /trapped: unreachable/);
    assert.match(failureOf(await call("probe", "z")).message, /trapped: a number was divided by zero/);
    assert.match(failureOf(await call("probe", "o")).message, /`run` gave a place outside of its memory/);
    assert.match(failureOf(await call("probe", "p")).message, /handed the host a place outside of its memory/);
    // None of them left anything behind.
    assert.equal(answerOf(await call("probe", "b", 0, "7")), 7);
  });

  it("that never ends is stopped by its fuel, with and without calls in the loop, at the same count each time", async () => {
    for (const mode of ["l", "c"]) {
      const messages = new Set<string>();
      for (let round = 0; round < 3; round++) {
        const { code, message } = failureOf(await call("tight", mode));
        assert.equal(code, "RESOURCE_EXCEEDED");
        assert.match(message, /^fuel: at most 20000, and it came to 200\d\d$/);
        messages.add(message);
        assert.deepEqual(await home.lastEntries(), [
          "toolInvoked",
          "capabilityCheck",
          "policyDecision",
          "toolStarted",
          "toolFailed",
        ]);
      }
      assert.equal(messages.size, 1);
    }
  });

  it("with unlimited recursion is stopped by its depth, and with unlimited memory by its cap", async () => {
    for (let round = 0; round < 2; round++) {
      const deep = failureOf(await call("probe", "d"));
      assert.deepEqual([deep.code, deep.message], ["RESOURCE_EXCEEDED", "depth: at most 10000, and it came to 10001"]);
      const wide = failureOf(await call("tight", "g"));
      assert.equal(wide.code, "RESOURCE_EXCEEDED");
      assert.match(wide.message, /^(?:memory: at most 2097152|fuel: )/);
    }
    const wide = failureOf(await call("probe", "g"));
    assert.deepEqual(
      [wide.code, wide.message],
      ["RESOURCE_EXCEEDED", "memory: at most 16777216, and it came to 16777216"],
    );
  });

  it("that loops with much fuel is stopped by its time-out, while others continue", async () => {
    const [late, ...others] = await Promise.all([
      call("spins", "l"),
      call("probe", "b", 0, "1"),
      call("probe", "b", 0, "2"),
    ]);
    assert.equal(failureOf(late).code, "TIMEOUT");
    assert.deepEqual(others.map(answerOf), [1, 2]);
    assert.equal(answerOf(await call("probe", "b", 0, "3")), 3);
    assert.equal((await home.lastUse()).partial, false);
  });

  it("that was stopped is recorded with its known usage, and marked", async () => {
    assert.equal(failureOf(await call("spins", "l")).code, "TIMEOUT");
    const { fuelUsed, fuelLimit, partial } = await home.lastUse();
    assert.deepEqual([fuelUsed, fuelLimit, partial], [0n, 1_000_000_000_000n, true]);
  });

  it("is charged for its processor time, and stopped when its session has none left", async () => {
    const session = await home.at.kernel.session({
      workspace: home.at.workspace,
      lease: { budgets: { cpu_ms: 400 } },
    });
    const left = async () => (await home.at.kernel.getSession(session.id))?.budgetRemaining.cpu_ms ?? assert.fail();
    // The system brings a thread's time up to date at its ticks: a short call between two of them has taken none.
    for (let calls = 0; calls < 100 && (await left()) === 400; calls++)
      assert.equal(answerOf(await session.call("probe", tell("b", 0, "1"))), 1);
    const afterSome = await left();
    assert.ok(afterSome < 400 && afterSome > 0, String(afterSome));
    const ended = failureOf(await session.call("burns", tell("l")));
    assert.equal(ended.code, "RESOURCE_EXCEEDED");
    assert.equal(ended.message.replace(/\d+$/, "N"), `cpu: at most ${afterSome}, and it came to N`);
    assert.equal((await home.lastUse()).partial, true);
    assert.equal(await left(), 0);
    const { result } = (await session.call("probe", tell("b", 0, "1"))).response;
    assert.equal(result.case === "denied" && result.value.rationaleCode, "BUDGET_EXCEEDED");
  });

  it("does not run after its file was changed", async () => {
    const [tool] = await home.at.add(await home.writeModule(await probeWith("quite another"), { name: "changed" }));
    const hash = tool?.pin.kind === "wasm" ? tool.pin.module.hash : assert.fail();
    await home.at.stop();
    await writeFile(join(home.at.home, "tools", "changed@1.0.0", "files", hash), await probeWith("something else"));
    await home.at.start();
    assert.equal(failureOf(await call("changed", "b", 0, "1")).code, "TOOL_QUARANTINED");
  });
});

async function probeWith(text: string): Promise<Uint8Array> {
  return await assemble(`(module (memory (export "memory") 1) (data (i32.const 0) "${text}")
    (func (export "alloc") (param i32) (result i32) (i32.const 0))
    (func (export "run") (param i32 i32) (result i64) (i64.const 0)))`);
}
