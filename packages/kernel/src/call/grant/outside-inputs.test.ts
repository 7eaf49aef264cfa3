import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonObject, parseJson, toHex } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, echoTool } from "@narthex/testkit";
import { defineTool } from "../../tool/define-tool.ts";
import type { Determinism, ToolOutput } from "../../tool/tool.ts";

function dice(determinism: Determinism) {
  return defineTool({
    name: "dice",
    description: "Rolls.",
    inputSchema: true,
    tier: "read_only",
    determinism,
    run: (_, context) => ({ now: context.nowMs(), random: toHex(context.randomBytes(16)) }),
  });
}

const SEED = new Uint8Array(32).fill(7);

function fieldOf(output: ToolOutput | undefined, name: string): unknown {
  assert.ok(isJsonObject(output as never), "no object");
  return (output as Record<string, unknown>)[name];
}

test("pure: a tool gets neither real time nor real randomness from the kernel", async () => {
  const { open, clock } = await createTestKernel({ tools: [dice("pure")] });
  const [one, other] = [await open({ seed: SEED }), await open({ seed: SEED })];
  const first = await one.call("dice", {});
  clock.advance(5000);
  const later = await other.call("dice", {});
  assert.equal(first.status, "success");
  assert.notEqual(fieldOf(first.raw, "now"), clock.nowMs() - 5000);
  assert.deepEqual(later.hash, first.hash);
});

test("pure: equal inputs have equal results, whatever the session, its seed and the call's number", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const hashes = new Set<string>();
  for (const seed of [SEED, new Uint8Array(32).fill(8)]) {
    const session = await open({ seed });
    for (let call = 0; call < 3; call++) {
      const { hash } = await session.call("echo", { b: 1, a: [2] });
      hashes.add(toHex(hash ?? assert.fail("no result")));
    }
  }
  assert.equal(hashes.size, 1);
});

for (const determinism of ["external", "nondeterministic"] as const) {
  test(`${determinism}: real time and real randomness reach the output, and no seed repeats it`, async () => {
    const { open, clock } = await createTestKernel({ tools: [dice(determinism)] });
    const [one, other] = [await open({ seed: SEED }), await open({ seed: SEED })];
    const first = await one.call("dice", {});
    assert.equal(fieldOf(first.raw, "now"), clock.nowMs());
    clock.advance(5000);
    const later = await other.call("dice", {});
    assert.equal(fieldOf(later.raw, "now"), clock.nowMs());
    assert.notEqual(fieldOf(later.raw, "random"), fieldOf(first.raw, "random"));
  });

  test(`${determinism}: the response is recorded and given again instead of being computed again`, async () => {
    const store = createMemoryStore();
    const { open, records } = await createTestKernel({ tools: [dice(determinism)], store });
    const session = await open({ seed: SEED });
    const first = await session.call("dice", {}, { requestId: "rolled" });
    const again = await session.call("dice", {}, { requestId: "rolled" });
    assert.deepEqual(again.hash, first.hash);
    assert.deepEqual(parseJson(again.normalised ?? new Uint8Array()), first.raw);
    const [invoked] = (await records(session.id))
      .flatMap(({ entries }) => entries.map(({ kind }) => kind))
      .filter((kind) => kind.case === "toolInvoked");
    assert.equal(invoked?.case === "toolInvoked" && invoked.value.determinism, determinism);
  });
}
