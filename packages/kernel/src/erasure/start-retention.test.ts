import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createTestKernel, echoTool } from "@narthex/testkit";

mock.timers.enable({ apis: ["setTimeout"] });

test("a running kernel collects garbage repeatedly until it is closed", async () => {
  const retention = { maxAgeMs: 1000, maxBytes: 1_000_000_000 };
  const at = await createTestKernel({ tools: [echoTool], settings: { retention, retentionEveryMs: 600_000 } });
  async function endedSession(): Promise<Uint8Array> {
    const session = await at.open();
    const { hash } = await session.call("echo", { text: String(at.clock.nowMs()) });
    await at.kernel.closeSession(session.id);
    return hash ?? assert.fail();
  }
  const isHeld = async (hash: Uint8Array): Promise<boolean> => (await at.kernel.statContent(hash)) !== undefined;
  async function until(hash: Uint8Array): Promise<void> {
    for (let turn = 0; turn < 1000 && (await isHeld(hash)); turn++) await setImmediate();
    assert.ok(!(await isHeld(hash)));
  }
  for (let round = 0; round < 2; round++) {
    const hash = await endedSession();
    at.clock.advance(1001);
    assert.ok(await isHeld(hash));
    mock.timers.tick(600_000);
    await until(hash);
    // The next round is waited for once this one is over.
    for (let turn = 0; turn < 50; turn++) await setImmediate();
  }
  const last = await endedSession();
  at.clock.advance(1001);
  await at.kernel.close({ graceMs: 0 });
  mock.timers.tick(6_000_000);
  assert.ok(last.length > 0);
});
