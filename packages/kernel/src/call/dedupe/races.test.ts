import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@narthex/contracts";
import {
  createCountingTool,
  createMemoryStore,
  createTestKernel,
  createWaitingTool,
  type MemoryStore,
} from "@narthex/testkit";
import * as fc from "fast-check";
import { RUNS_ALL } from "../../../../../test/sampled.ts";
import type { CallResult } from "../../kernel.ts";
import { verifyStore } from "../../testing/verify-store.ts";

const codeOf = ({ response: { result } }: CallResult) =>
  result.case === "error" ? result.value.errorCode : result.case;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A store that takes its time over everything, now more and now less. */
function slowStore(delays: readonly number[]): MemoryStore {
  const store = createMemoryStore();
  let next = 0;
  const slow =
    <A extends unknown[], T>(method: (...given: A) => Promise<T>) =>
    async (...given: A): Promise<T> => {
      for (let turns = delays[next++ % delays.length] ?? 0; turns > 0; turns--) await turn();
      return method(...given);
    };
  return {
    ...store,
    // Appends are taken in the order of the calls, and only then wait.
    append: (write) => {
      const done = store.append(write);
      return slow(() => done)();
    },
    findRequest: slow(store.findRequest),
    readRecord: slow(store.readRecord),
    getState: slow(store.getState),
    listState: slow(store.listState),
  };
}

const anyRequest = fc.record({
  by: fc.constantFrom("id" as const, "key" as const),
  name: fc.nat(2),
  input: fc.nat(1),
  waits: fc.nat(3),
  leavesAfter: fc.constantFrom(undefined, undefined, undefined, 0, 1, 2, 5),
});

test("concurrent equal requests have one effect per id and key, and every caller gets a response", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRequest, { minLength: 2, maxLength: 20 }),
      fc.array(fc.nat(4), { minLength: 3, maxLength: 9 }),
      async (requests, delays) => {
        const counting = createCountingTool("count", turn);
        const store = slowStore(delays);
        const { open, kernel, records } = await createTestKernel({ tools: [counting.tool], store });
        const session = await open();
        const answers = requests.map(async ({ by, name, input, waits, leavesAfter }, i) => {
          for (let turns = 0; turns < waits * 3; turns++) await turn();
          const caller = new AbortController();
          const names = by === "id" ? { requestId: `id${name}` } : { requestId: `own${i}`, dedupeKey: `key${name}` };
          const answer = session.call("count", { input }, { ...names, signal: caller.signal });
          for (let turns = leavesAfter ?? -1; turns > 0; turns--) await turn();
          if (leavesAfter !== undefined) caller.abort();
          return { named: `${by}${name}`, input, result: await answer };
        });
        const byName = new Map<string, Set<string>>();
        for (const { named, input, result } of await Promise.all(answers)) {
          assert.ok(
            ["success", "CANCELLED", "DUPLICATE_REQUEST_ID", "DEDUPE_CONFLICT"].includes(codeOf(result) ?? ""),
            codeOf(result),
          );
          if (result.status !== "success") continue;
          const known = byName.get(named) ?? new Set();
          byName.set(named, known.add(`${input} ${toHex(result.hash ?? assert.fail())}`));
        }
        for (const [named, effects] of byName) assert.equal(effects.size, 1, named);
        await kernel.closeSession(session.id);
        const kinds = (await records(session.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
        assert.ok(kinds.filter((kind) => kind === "toolStarted").length >= counting.count());
        assert.deepEqual(await kernel.listIntents(), []);
        await verifyStore(store);
      },
    ),
    { numRuns: RUNS_ALL ? 60 : 25 },
  );
});

test("a caller that joins just after all others left runs the call again", async () => {
  const waiting = createWaitingTool();
  const { open } = await createTestKernel({ tools: [waiting.tool] });
  const session = await open();
  const caller = new AbortController();
  const left = session.call("wait", {}, { requestId: "r", signal: caller.signal });
  await waiting.started;
  caller.abort();
  const came = session.call("wait", {}, { requestId: "r" });
  waiting.finish();
  assert.equal(codeOf(await left), "CANCELLED");
  assert.equal(codeOf(await came), "success");
});

test("a deadline ends the wait for a joined call, not the call", async () => {
  const waiting = createWaitingTool();
  const { open } = await createTestKernel({ tools: [waiting.tool] });
  const session = await open();
  const first = session.call("wait", {}, { requestId: "r" });
  await waiting.started;
  const joined = await session.call("wait", {}, { requestId: "r", timeoutMs: 5 });
  assert.ok(joined.response.result.case === "error" && joined.response.result.value.retryable);
  assert.equal(codeOf(joined), "TIMEOUT");
  waiting.finish();
  assert.equal(codeOf(await first), "success");
});

test("joined callers get a response even if the call cannot be recorded", async () => {
  const store = createMemoryStore();
  const running = Promise.withResolvers<void>();
  const counting = createCountingTool("count", async () => {
    running.resolve();
    for (let i = 0; i < 5; i++) await turn();
    store.failWith("the disk is gone");
  });
  const { open } = await createTestKernel({ tools: [counting.tool], store });
  const session = await open();
  const first = session.call("count", {}, { requestId: "r" });
  await running.promise;
  const joined = [1, 2, 3].map(() => session.call("count", {}, { requestId: "r" }));
  assert.equal(codeOf(await first), "OUTCOME_UNKNOWN");
  for (const result of await Promise.all(joined)) assert.equal(codeOf(result), "STORE_UNAVAILABLE");
});

test("a store that fails at any append loses no response, leaves nothing pending, and nothing runs afterwards", async () => {
  for (let failsAt = 0; failsAt < 5; failsAt++) {
    const memory = createMemoryStore();
    let appends = -1;
    const store: MemoryStore = {
      ...memory,
      append(write) {
        if (appends >= 0 && appends++ === failsAt) memory.failWith("the disk is gone");
        return memory.append(write);
      },
    };
    const counting = createCountingTool();
    const { open, kernel } = await createTestKernel({ tools: [counting.tool], store });
    const session = await open();
    appends = 0;
    const calls = [1, 2, 1, 2].map((n) => session.call("count", { n }, { requestId: `r${n}` }));
    const codes = (await Promise.all(calls)).map(codeOf);
    assert.ok(
      codes.every((code) => ["success", "OUTCOME_UNKNOWN", "STORE_UNAVAILABLE"].includes(code ?? "")),
      codes.join(),
    );
    const runs = counting.count();
    assert.equal(
      codeOf(await session.call("count", { n: 3 })),
      failsAt < 6 && appends > failsAt ? "STORE_UNAVAILABLE" : "success",
    );
    assert.equal(counting.count(), appends > failsAt ? runs : runs + 1);
    await kernel.close();
  }
});
