import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel, createWaitingTool, echoTool } from "@narthex/testkit";
import type { CallResult } from "../kernel.ts";
import { codeOf } from "./testing/delegated-session.ts";

/** The clock stands still until a test moves it; timers are real, so short leases keep the tests short. */
const SHORT_MS = 20;

const messageOf = ({ response: { result } }: CallResult): string =>
  result.case === "error" ? result.value.message : `no error: ${result.case}`;

test("cancels a running call when its lease ends, even if its session continues", async () => {
  const waiting = createWaitingTool();
  const { open, clock, kernel } = await createTestKernel({ tools: [echoTool, waiting.tool] });
  const session = await open({ lease: { ttl_ms: SHORT_MS } });
  const other = await open();
  const told: string[] = [];
  kernel.onLeaseEnded((sessionId) => told.push(sessionId));
  const running = session.call("wait", {});
  await waiting.started;
  clock.advance(SHORT_MS);
  const ended = await running;
  assert.deepEqual(
    [codeOf(ended), messageOf(ended)],
    ["CANCELLED", "the lease behind the call expired (LEASE_EXPIRED)"],
  );
  assert.equal(codeOf(await session.call("echo", 1)), "LEASE_EXPIRED");
  assert.equal((await kernel.getSession(session.id))?.session.state, "open");
  assert.equal(codeOf(await other.call("echo", 1)), "success");
  assert.deepEqual(told, [session.id]);
  const offered = (sessionId: string) => kernel.listTools({ sessionId, allVersions: false }).length;
  assert.deepEqual([offered(session.id), offered(other.id)], [0, 2]);
  await kernel.close();
});

test("cancels a running call when its session expires", async () => {
  const waiting = createWaitingTool();
  const { open, clock, kernel } = await createTestKernel({ tools: [waiting.tool] });
  const session = await open({ ttlMs: SHORT_MS, lease: { ttl_ms: 60_000 } });
  const running = session.call("wait", {});
  await waiting.started;
  clock.advance(SHORT_MS);
  assert.match(messageOf(await running), /LEASE_EXPIRED/);
  await kernel.close();
});

test("cancels a child's running call when its parent's lease ends", async () => {
  const waiting = createWaitingTool();
  const { open, clock, kernel } = await createTestKernel({ tools: [waiting.tool] });
  const parent = await open({ lease: { ttl_ms: SHORT_MS } });
  const { token } = await kernel.delegateLease({ sessionId: parent.id, lease: {} });
  const running = kernel.callInProcess({ token, tool: "wait", input: {} });
  await waiting.started;
  clock.advance(SHORT_MS);
  assert.match(messageOf(await running), /LEASE_EXPIRED/);
  await kernel.close();
});

test("limits a call's reported time to what its lease has left", async () => {
  const seen: number[] = [];
  const tool = { ...echoTool, name: "look", determinism: "nondeterministic" as const };
  const { open, kernel } = await createTestKernel({
    tools: [{ ...tool, run: (_input, { timeLeftMs }) => (seen.push(timeLeftMs()), null) }],
  });
  assert.equal(codeOf(await (await open({ lease: { ttl_ms: 700 } })).call("look", {})), "success");
  assert.ok(seen[0] !== undefined && seen[0] > 0 && seen[0] <= 700, String(seen));
  await kernel.close();
});
