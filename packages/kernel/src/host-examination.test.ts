import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemoryStore, createTestKernel, createTestRandom } from "@narthex/testkit";
import { defineTool } from "./tool/define-tool.ts";
import { isWeakerLevel } from "./host-examination.ts";

let runs = 0;
const contained = defineTool({
  name: "contained",
  description: "Rests on a sandbox.",
  source: "builtin",
  isolation: "worker",
  inputSchema: true,
  tier: "side_effecting",
  effects: ["fs_write"],
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  run: () => ++runs,
});
const free = defineTool({ name: "free", description: "Rests on nothing.", inputSchema: true, run: () => "ran" });

describe("the level of containment", () => {
  it("weakens from L0 to L2, and no containment is the weakest", () => {
    const levels = ["L0", "L1", "L2"];
    for (const [than, began] of levels.entries()) {
      for (const [at, level] of levels.entries())
        assert.equal(isWeakerLevel(level, began), at > than, `${began} ${level}`);
      assert.equal(isWeakerLevel(began, ""), false);
      assert.equal(isWeakerLevel("", began), false);
    }
  });

  it("never drops during a session, not even from L0 to L1, while other tools keep running", async () => {
    const store = createMemoryStore();
    const start = (level: string) =>
      createTestKernel({
        tools: [contained, free],
        store,
        random: createTestRandom(level),
        examineHost: () => Promise.resolve({ level, envelope: "{}" }),
      });
    const first = await start("L0");
    const { token, call } = await first.open();
    assert.equal((await call("contained", 1)).status, "success");
    const before = runs;
    for (const [level, status] of [
      ["L1", "error"],
      ["L2", "error"],
      ["L0", "success"],
    ] as const) {
      const { kernel } = await start(level);
      const { response } = await kernel.callInProcess({ token, tool: "contained", input: level });
      assert.equal(response.result.case, status, level);
      if (response.result.case === "error") {
        assert.equal(response.result.value.errorCode, "SANDBOX_UNAVAILABLE");
        assert.match(response.result.value.message, new RegExp(`level L0, and this host now has ${level}`));
        assert.equal(response.result.value.effectsPossible, false);
      }
      assert.equal((await kernel.callInProcess({ token, tool: "free", input: level })).status, "success");
    }
    assert.equal(runs, before + 1);
  });

  it("may rise, and disabled tools are not started", async () => {
    const store = createMemoryStore();
    const stateOf = ({ name }: { readonly name: string }) =>
      ({ state: name === "contained" ? "disabled" : "ready", reason: "no sandbox: install one" }) as const;
    const weak = await createTestKernel({
      tools: [contained, free],
      store,
      random: createTestRandom("weak"),
      examineHost: () => Promise.resolve({ level: "L2", envelope: "{}", stateOf }),
    });
    const { token, call } = await weak.open();
    const { response } = await call("contained", 1);
    assert.ok(response.result.case === "error");
    assert.deepEqual(
      [response.result.value.errorCode, response.result.value.message],
      ["SANDBOX_UNAVAILABLE", "no sandbox: install one"],
    );
    assert.deepEqual(await weak.kernel.listIntents(), []);
    const strong = await createTestKernel({
      tools: [contained, free],
      store,
      random: createTestRandom("strong"),
      examineHost: () => Promise.resolve({ level: "L1", envelope: "{}" }),
    });
    assert.equal((await strong.kernel.callInProcess({ token, tool: "contained", input: 2 })).status, "success");
  });
});
