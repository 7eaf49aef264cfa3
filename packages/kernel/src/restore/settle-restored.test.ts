import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { utf8 } from "@narthex/contracts";
import {
  createCountingTool,
  createMemoryStore,
  createTestKernel,
  echoTool,
  type MemoryStore,
  permitAll,
} from "@narthex/testkit";
import type { CallResult } from "../kernel.ts";
import { verifyStore } from "../testing/verify-store.ts";
import type { Tool } from "../tool/tool.ts";
import { RESTORED_KEY } from "./settle-restored.ts";

// A kernel that was copied leaves calls running for ever; their time-outs must not keep the test alive.
mock.timers.enable({ apis: ["setTimeout"] });

const codeOf = ({ response: { result } }: CallResult): string | undefined =>
  result.case === "denied" ? result.value.rationaleCode : result.case;

/** The store as `restore` leaves it. */
function asRestored(store: MemoryStore): MemoryStore {
  let mark: Uint8Array | undefined = utf8("1700000000000");
  return {
    ...store,
    get size() {
      return store.size;
    },
    getState: async (table, key) =>
      table === "meta" && key === RESTORED_KEY ? mark : await store.getState(table, key),
    append(write) {
      if (write.state.some(({ key, value }) => key === RESTORED_KEY && value === undefined)) mark = undefined;
      return store.append(write);
    },
  };
}

test("a restored copy closes every session, and rejects the original's tokens", async () => {
  const store = createMemoryStore();
  const first = await createTestKernel({ tools: [echoTool], store });
  const [one, two] = [await first.open(), await first.open()];
  await one.call("echo", {});
  const copy = await createTestKernel({ tools: [echoTool], store: asRestored(store) });
  for (const { token } of [one, two]) {
    assert.equal(codeOf(await copy.kernel.callInProcess({ token, tool: "echo", input: {} })), "SESSION_CLOSED");
  }
  const entries = (await copy.records("system")).flatMap((record) => record.entries.map(({ kind }) => kind));
  const restored = entries.flatMap((kind) => (kind.case === "homeRestored" ? [kind.value] : []));
  assert.deepEqual(
    restored.map(({ takenAtMs, done }) => [takenAtMs, done]),
    [
      [1_700_000_000_000n, false],
      [1_700_000_000_000n, true],
    ],
  );
  await verifyStore(store);
  // Only once.
  const again = await createTestKernel({ tools: [echoTool], store });
  const session = await again.open();
  assert.equal((await session.call("echo", {})).status, "success");
});

test("interrupted calls stay unknown: no tool is queried, and none runs again", async () => {
  const store = createMemoryStore();
  const started = Promise.withResolvers<void>();
  const hanging = createCountingTool("count", () => {
    started.resolve();
    return new Promise(() => undefined);
  }).tool;
  const first = await createTestKernel({ tools: [hanging], store });
  const session = await first.open();
  void session.call("count", { n: 1 }, { requestId: "lost" });
  await started.promise;
  let asked = 0;
  const knowing: Tool = {
    ...createCountingTool().tool,
    reconcile: async () => {
      asked++;
      return "did_not_happen";
    },
  };
  const restored = asRestored(store);
  await createTestKernel({ tools: [knowing], store: restored });
  const later = await createTestKernel({ tools: [knowing], store });
  assert.equal(asked, 0);
  const [intent, ...rest] = await later.kernel.listIntents();
  assert.deepEqual([intent?.requestId, intent?.state, rest.length], ["lost", "unknown", 0]);
  await later.kernel.settleIntent({ sessionId: session.id, requestId: "lost", answer: "happened", by: "ada" });
  await verifyStore(store);
});

test("withdraws an unused approval", async () => {
  const store = createMemoryStore();
  const { tool } = createCountingTool();
  const policy = permitAll([tool], "human");
  const first = await createTestKernel({ tools: [tool], store, policy });
  first.kernel.openApprovalDoor();
  const session = await first.open();
  const waiting = session.call("count", {}, { timeoutMs: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(2);
  await waiting;
  const [open] = first.kernel.listApprovals().open;
  assert.ok(open !== undefined);
  await first.kernel.resolveApproval({ approvalId: open.approvalId, answer: "once", approver: "ada", door: "cli" });
  assert.equal((await store.listState("approvals", "", 10)).length, 1);
  await createTestKernel({ tools: [tool], store: asRestored(store), policy });
  assert.deepEqual(await store.listState("approvals", "", 10), []);
  await verifyStore(store);
});
