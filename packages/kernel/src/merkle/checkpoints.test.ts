import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { test } from "node:test";
import { fromBinary, RecordSchema } from "@narthex/contracts";
import {
  createMemoryStore,
  createTestClock,
  createTestRandom,
  type MemoryStore,
  type TestClock,
} from "@narthex/testkit";
import { createLedger, type Ledger } from "../ledger/ledger.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { type CheckpointParts, type Checkpoints, createCheckpoints } from "./checkpoints.ts";
import { parseNote } from "./signed-note.ts";
import { createMemoryMerkle, type MemoryMerkle } from "./testing/memory-merkle.ts";
import { parseVerifierKey } from "./verifier-key.ts";

const EVERY_RECORDS = 5;
const EVERY_MS = 60_000;

interface Bench {
  readonly store: MemoryStore;
  readonly ledger: Ledger;
  readonly clock: TestClock;
  readonly log: MemoryMerkle;
  readonly checkpoints: Checkpoints;
  readonly told: string[];
  /** Another run of the kernel, on what is stored. */
  restart(): Promise<Pick<Bench, "ledger" | "checkpoints">>;
  append(count: number): Promise<void>;
  kinds(): Promise<string[]>;
}

async function open(): Promise<Bench> {
  const store = createMemoryStore();
  const clock = createTestClock();
  const log = createMemoryMerkle(store);
  const told: string[] = [];
  const run = async (): Promise<{ ledger: Ledger; checkpoints: Checkpoints }> => {
    const ledger = await createLedger({ store, clock, onFailure: () => undefined });
    await ledger.loadChain(SYSTEM_CHAIN);
    const parts: CheckpointParts = {
      ...log,
      // Not copied: tests change what it does.
      tree: log.tree,
      store,
      ledger,
      clock,
      random: createTestRandom("log"),
      logger: (_level, message) => void told.push(message),
      settings: { everyRecords: EVERY_RECORDS, everyMs: EVERY_MS },
    };
    return { ledger, checkpoints: createCheckpoints(parts) };
  };
  const { ledger, checkpoints } = await run();
  return {
    store,
    ledger,
    clock,
    log,
    checkpoints,
    told,
    restart: run,
    async append(count) {
      for (let left = count; left > 0; left--) {
        await ledger.append({ chain: SYSTEM_CHAIN, entries: [{ case: "kernelStarted", value: { version: "test" } }] });
      }
    },
    async kinds() {
      const records = await store.readRecords({ limit: 1000 });
      return records.map(({ record }) => fromBinary(RecordSchema, record).entries[0]?.kind.case ?? "");
    },
  };
}

test("a kernel without new records signs nothing, and a checkpoint does not cause another", async () => {
  const { checkpoints, clock, append, kinds } = await open();
  checkpoints.serve();
  clock.advance(EVERY_MS);
  await checkpoints.tick();
  assert.deepEqual(await kinds(), []);
  await append(1);
  for (let minutes = 0; minutes < 5; minutes++) {
    clock.advance(EVERY_MS);
    await checkpoints.tick();
  }
  await checkpoints.close();
  assert.deepEqual(await kinds(), ["kernelStarted", "logKeyAnnounced", "checkpointSigned"]);
});

test("signs a checkpoint after a number of records, and after a time if there are new records", async () => {
  const { checkpoints, clock, append, log } = await open();
  checkpoints.serve();
  await append(EVERY_RECORDS - 1);
  await checkpoints.tick();
  assert.equal(log.notes.length, 0);
  await append(1);
  await checkpoints.tick();
  assert.equal(log.notes.length, 1);
  await append(1);
  clock.advance(EVERY_MS - 1000);
  await checkpoints.tick();
  assert.equal(log.notes.length, 1);
  clock.advance(1000);
  await checkpoints.tick();
  assert.equal(log.notes.length, 2);
});

test("a wall clock set back changes neither what is signed nor when", async () => {
  const { checkpoints, clock, append, log } = await open();
  checkpoints.serve();
  await append(1);
  clock.setBack(3_600_000);
  clock.advance(EVERY_MS);
  await checkpoints.tick();
  assert.equal(log.notes.length, 1);
});

test("a kernel that served signs when it stops; one that ran briefly signs only if many records are unsigned", async () => {
  const served = await open();
  served.checkpoints.serve();
  await served.append(1);
  await served.checkpoints.close();
  assert.equal(served.log.notes.length, 1);
  const brief = await open();
  await brief.append(EVERY_RECORDS - 1);
  await brief.checkpoints.close();
  assert.deepEqual(brief.log.notes, []);
  await brief.append(1);
  await brief.checkpoints.close();
  assert.equal(brief.log.notes.length, 1);
});

test("appending waits for neither tree nor signature", async () => {
  const { checkpoints, append, ledger, log } = await open();
  await append(1);
  const { promise, resolve } = Promise.withResolvers<void>();
  log.gate = promise;
  const signing = checkpoints.sign();
  await append(20);
  assert.ok(ledger.durableCount() >= 21);
  assert.equal(log.notes.length, 0);
  resolve();
  assert.ok((await signing).size >= 2);
});

test("never signs a tree that does not extend the last checkpoint, and reports it once", async () => {
  const { checkpoints, append, clock, log, told, kinds } = await open();
  checkpoints.serve();
  await append(3);
  await checkpoints.sign();
  await append(EVERY_RECORDS);
  const before = await kinds();
  log.forgedRoot = new Uint8Array(32);
  await assert.rejects(checkpoints.sign(), { code: "LOG_CONTRADICTS" });
  log.forgedRoot = new Uint8Array(32);
  await checkpoints.tick();
  await checkpoints.tick();
  assert.deepEqual(await kinds(), before);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /no checkpoint could be signed: .* does not extend the checkpoint of 4/);
  // It tries again in time, and goes on when nothing is wrong any more.
  clock.advance(EVERY_MS);
  await checkpoints.tick();
  assert.equal(log.notes.length, 2);
});

test("a checkpoint that a crash kept from being published is published at the next start", async () => {
  const { checkpoints, append, log, restart } = await open();
  await append(3);
  const first = await checkpoints.sign();
  await append(3);
  const second = await checkpoints.sign();
  log.notes.splice(0, 2, first.note);
  const again = await restart();
  assert.equal((await again.checkpoints.sign()).note, second.note);
  assert.deepEqual(log.notes, [first.note, second.note]);
});

test("a published checkpoint that is missing in the ledger stops all signing", async () => {
  const { checkpoints, append, log, restart } = await open();
  await append(3);
  const { note } = await checkpoints.sign();
  for (const [published, code] of [
    [note.replace("\n4\n", "\n400\n"), "LEDGER_ROLLED_BACK"],
    [note.replace("\n4\n", "\n3\n"), "LOG_CONTRADICTS"],
    [note.replace("narthex/", "elsewhere/"), "LOG_CONTRADICTS"],
    ["", "LOG_CONTRADICTS"],
  ] as const) {
    log.notes.push(published);
    const again = await restart();
    await assert.rejects(again.checkpoints.sign(), { code }, published);
    await assert.rejects(again.checkpoints.rotateKey(), { code });
    assert.equal(log.notes.at(-1), published);
    log.notes.pop();
  }
});

test("keys are handed over in a chain, each signed by its predecessor", async () => {
  const { checkpoints, append, log, kinds } = await open();
  await append(2);
  const first = await checkpoints.sign();
  const second = await checkpoints.rotateKey();
  const third = await checkpoints.rotateKey();
  const rotation = ["logKeyAnnounced", "checkpointSigned"];
  assert.deepEqual(await kinds(), ["kernelStarted", "kernelStarted", ...rotation, ...rotation, ...rotation]);
  assert.equal(second.previousVerifierKey, first.verifierKey);
  assert.equal(third.previousVerifierKey, second.announced.key.text);
  assert.equal(new Set([first.keyId, second.checkpoint.keyId, third.checkpoint.keyId]).size, 3);
  const lines = (note: string | undefined) => (note ?? "").split("\n");
  assert.deepEqual(lines(log.keyNotes[0]).slice(0, 4), ["narthex/log-key/v1", "none", first.verifierKey, "0"]);
  assert.deepEqual(lines(log.keyNotes[2]).slice(0, 4), [
    "narthex/log-key/v1",
    second.announced.key.text,
    third.announced.key.text,
    String(second.checkpoint.size),
  ]);
  const keys = [first.verifierKey, second.announced.key.text, third.announced.key.text];
  assert.deepEqual(signersOf(log.keyNotes[0]), keys.slice(0, 1));
  assert.deepEqual(signersOf(log.keyNotes[1]), keys.slice(0, 2));
  assert.deepEqual(signersOf(log.keyNotes[2]), keys.slice(1, 3));

  function signersOf(note = ""): string[] {
    const { text = "", signatures = [] } = parseNote(note) ?? {};
    return signatures.flatMap(({ signature }) => keys.filter((key) => hasSigned(key, text, signature)));
  }
});

test("cannot prove a record that was never signed", async () => {
  const { checkpoints, append } = await open();
  await append(3);
  await assert.rejects(checkpoints.find(undefined), { code: "CHECKPOINT_NOT_FOUND" });
  await assert.rejects(checkpoints.proveRecord(0, undefined), { code: "RECORD_NOT_SIGNED" });
  const { size } = await checkpoints.sign();
  await assert.rejects(checkpoints.proveRecord(0, 2), { code: "CHECKPOINT_NOT_FOUND" });
  await assert.rejects(checkpoints.proveRecord(size, undefined), { code: "RECORD_NOT_SIGNED" });
  await assert.rejects(checkpoints.proveRecord(1000, undefined), { code: "RECORD_NOT_FOUND" });
  await assert.rejects(checkpoints.proveConsistency(1, undefined), { code: "CHECKPOINT_NOT_FOUND" });
  await append(3);
  const newer = await checkpoints.sign();
  await assert.rejects(checkpoints.proveConsistency(newer.size, size), { code: "INVALID_INPUT" });
  assert.equal((await checkpoints.proveConsistency(size, size)).path.length, 0);
});

function hasSigned(verifierKey: string, text: string, signature: Uint8Array): boolean {
  const { publicKey = Uint8Array.of() } = parseVerifierKey(verifierKey) ?? {};
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), publicKey]);
  return verify(null, Buffer.from(text), createPublicKey({ key: spki, format: "der", type: "spki" }), signature);
}
