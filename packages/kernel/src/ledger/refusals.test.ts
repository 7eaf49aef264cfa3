import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { blake3 } from "@narthex/contracts";
import { createMemoryStore, createTestClock } from "@narthex/testkit";
import type { Ledger } from "./ledger.ts";
import { createLedger } from "./ledger.ts";
import type { RecordDraft } from "./record-draft.ts";
import { createRefusals } from "./refusals.ts";

mock.timers.enable({ apis: ["setTimeout"] });

async function create() {
  const ledger = await createLedger({
    store: createMemoryStore(),
    clock: createTestClock(),
    onFailure: () => undefined,
  });
  const written: RecordDraft[] = [];
  const append: Ledger["append"] = (draft) => {
    written.push(draft);
    return ledger.append(draft);
  };
  const watched = Object.assign(Object.create(ledger), { append, failure: undefined }) as Ledger;
  const counts = () =>
    written.map(({ entries }) =>
      entries.map(({ value }) =>
        value !== undefined && "door" in value && "count" in value
          ? `${value.door} ${value.reason} ${value.count}`
          : "",
      ),
    );
  return { refusals: createRefusals(watched), written, counts, watched };
}

test("a flood makes one entry per door and reason each second, with its count and the first one's digest", async () => {
  const { refusals, counts, written } = await create();
  for (let second = 0; second < 3; second++) {
    for (let i = 0; i < 1000; i++)
      refusals.count({ door: "framed", reason: i % 2 === 0 ? "malformed" : "too_large", bytes: Buffer.from(`${i}`) });
    mock.timers.tick(999);
    assert.equal(written.length, second);
    mock.timers.tick(1);
    assert.equal(written.length, second + 1);
  }
  assert.deepEqual(counts()[2], ["framed malformed 500", "framed too_large 500"]);
  const first = written[0]?.entries[0]?.value;
  assert.ok(first !== undefined && "firstDigest" in first);
  assert.deepEqual(first.firstDigest, blake3(Buffer.from("0")));
});

test("builds the digest only for the first refusal of a kind", async () => {
  const { refusals } = await create();
  let made = 0;
  for (let i = 0; i < 100; i++) {
    refusals.count({ door: "connect", reason: "SESSION_UNKNOWN" }, () => {
      made++;
      return new Uint8Array(1);
    });
  }
  assert.equal(made, 1);
});

test("limits a door's invented reasons, and still counts known kinds separately", async () => {
  const { refusals, counts } = await create();
  refusals.count({ door: "framed", reason: "malformed" });
  for (let i = 0; i < 10_000; i++) refusals.count({ door: "framed", reason: `${i} ${"x".repeat(1000)}` });
  refusals.count({ door: "framed", reason: "malformed" });
  await refusals.flush();
  const [entries = []] = counts();
  assert.ok(entries.length <= 65);
  assert.equal(entries[0], "framed malformed 2");
  assert.match(entries.at(-1) ?? "", /^other other \d+$/);
  assert.ok(entries.every((entry) => entry.length < 100));
});

test("counts nothing once the ledger cannot be written", async () => {
  const { refusals, watched, written } = await create();
  Object.assign(watched, { failure: new Error("closed") });
  refusals.count({ door: "framed", reason: "malformed" });
  mock.timers.tick(2000);
  assert.equal(written.length, 0);
});
