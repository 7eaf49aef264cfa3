import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { blake3, ContentPlace } from "@narthex/contracts";
import type { Store } from "@narthex/kernel";
import { createLedgerWrites, createMemoryStore } from "@narthex/testkit";
import fc from "fast-check";
import { runsOf } from "../../../../test/sampled.ts";
import { openSqliteStore } from "./sqlite-store.ts";

const CHAINS = ["system", "ses_a", "ses_b"];
const REQUESTS = ["", "r1", "r2", "r3"];
const CONTENTS = [0, 1, 2].map((text) => blake3(Uint8Array.of(text)));
const KEYS = ["a", "ab", "b"];

const item = fc.record({
  role: fc.integer({ min: 1, max: 11 }),
  digest: fc.constantFrom(...CONTENTS),
  size: fc.nat(),
  place: fc.integer({ min: ContentPlace.ROW, max: ContentPlace.NONE }),
  labels: fc.subarray(["secret", "untrusted"]),
});
const facts = fc.record({
  chain: fc.constantFrom(...CHAINS),
  requestId: fc.constantFrom(...REQUESTS),
  content: fc.array(item, { maxLength: 3 }),
  state: fc.array(
    fc.record({
      table: fc.constantFrom("sessions" as const, "meta" as const),
      key: fc.constantFrom(...KEYS),
      value: fc.option(fc.uint8Array({ maxLength: 4 }), { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
});
/** Batches are appended concurrently; after some the store is asked, after some it is closed and opened again. */
const batches = fc.array(
  fc.record({
    writes: fc.array(facts, { minLength: 1, maxLength: 8 }),
    reopen: fc.boolean(),
    isBrief: fc.boolean(),
    ask: fc.boolean(),
  }),
  { maxLength: 6 },
);

it("answers every question as the store in memory does", async () => {
  await fc.assert(
    fc.asyncProperty(batches, async (steps) => {
      const directory = await mkdtemp(join(tmpdir(), "narthex-model-"));
      const model = createMemoryStore();
      const write = createLedgerWrites();
      let store = await openSqliteStore({ directory });
      try {
        for (const step of steps) {
          const writes = step.writes.map((each) => write(each));
          await Promise.all(writes.flatMap((each) => [store.append(each), model.append(each)]));
          if (step.reopen) {
            await store.close();
            store = await openSqliteStore({ directory, isSingleThreaded: step.isBrief });
          }
          if (step.ask) assert.deepEqual(await askAll(store), await askAll(model));
        }
        assert.deepEqual(await askAll(store), await askAll(model));
      } finally {
        await store.close();
        await rm(directory, { recursive: true });
      }
    }),
    { numRuns: runsOf(8) },
  );
});

async function askAll(store: Store): Promise<unknown> {
  const perChain = CHAINS.map(async (chain) => [
    await store.chainHead(chain),
    await store.readRecords({ chain, from: 2, limit: 3 }),
    await store.readRecords({ chain, from: 1, limit: 2, newest: true }),
    await store.listRequestIds(chain, 2),
    ...(await Promise.all(REQUESTS.map((requestId) => store.findRequest(chain, requestId)))),
    ...(await Promise.all(CONTENTS.map((digest) => store.findContent(digest, chain)))),
  ]);
  return [
    await store.head(),
    await store.readRecords({ limit: 100 }),
    await store.readRecords({ limit: 3, newest: true }),
    await Promise.all(CONTENTS.map((digest) => store.findContent(digest))),
    await store.listState("sessions", "a", 10),
    await store.listState("meta", "", 2),
    await store.getState("sessions", "b"),
    ...(await Promise.all(perChain)),
  ];
}
