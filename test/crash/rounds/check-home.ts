import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { verifyLedger } from "narthex";
import type { SocketKernel } from "../../doors/socket-kernel.ts";
import { type CrashHome, LOAD_BUDGETS } from "./crash-home.ts";
import { callOf, type LoadCall } from "./load-call.ts";
import { readEffects } from "./load-tools.ts";
import { makeCall } from "./make-call.ts";
import { readSpending } from "./read-spending.ts";

/** What was found on a home after a kill. */
export interface Findings {
  /** Answers that had been received and were asked for again. */
  repeated: number;
  /** Those of them that are gone, or are others now. */
  lost: number;
  /** Things done to the world outside, since the home was made. */
  effects: number;
  twice: number;
  /** Of the calls that nobody had an answer of: those not in the ledger, those in it with their answer, the rest. */
  absent: number;
  recorded: number;
  unknown: number;
  /** Of the unknown: the effect had happened. */
  happened: number;
  readonly problems: string[];
}

/** All that a running kernel has beside its lock. */
const RUN_FILES: ReadonlySet<string> = new Set(
  "lock.db lock.db-journal holder.json admin.token approve.token read.token framed.sock services.sock sockets sandbox".split(
    " ",
  ),
);
const UNKNOWN = "error OUTCOME_UNKNOWN";

/**
 * Opens a home after its kernel was killed, and fails unless all holds that a kill must not change. Afterwards every
 * call that was ever made has its answer. `again` names answers to ask for once more.
 */
export async function checkHome(at: CrashHome, seed: number, again: readonly string[]): Promise<Findings> {
  const found: Findings = { ...NOTHING_FOUND, repeated: again.length, problems: [] };
  const kernel = await at.open();
  try {
    assert.deepEqual(await readdir(join(at.home, "content", "tmp")), [], "temporary files are left");
    const strangers = (await readdir(join(at.home, "run"))).filter((name) => !RUN_FILES.has(name));
    assert.deepEqual(strangers, [], "drafts are left");
    await Promise.all(again.map((requestId) => askAgain(kernel, at, callOf(seed, requestId), found)));
    await settle(kernel, at, seed, found);
    await answerPending(kernel, at, seed);
    await checkEffects(at, seed, found);
    await checkLedger(kernel, at);
    return found;
  } finally {
    await kernel.close();
  }
}

const NOTHING_FOUND = { lost: 0, effects: 0, twice: 0, absent: 0, recorded: 0, unknown: 0, happened: 0 } as const;

/** An answer that was received is given again, byte for byte. */
async function askAgain(kernel: SocketKernel, at: CrashHome, call: LoadCall, found: Findings): Promise<void> {
  const { requestId } = call;
  const record = await kernel.findCall(at.sessions[call.session]?.id ?? "", requestId);
  const answer = record && (await makeCall(kernel, at.sessions, call));
  const expected = at.answered.get(requestId);
  if (answer === expected) return;
  found.lost++;
  found.problems.push(`${requestId} was answered with ${expected}, and is now ${answer ?? "not in the ledger"}`);
}

/** A client repeats what it has no answer of; a person looks at the world and settles what is unknown. */
async function settle(kernel: SocketKernel, at: CrashHome, seed: number, found: Findings): Promise<void> {
  const intents = await kernel.listIntents();
  const unknown = new Set(intents.map(({ requestId }) => requestId));
  for (const { requestId, state } of intents) {
    assert.equal(state, "unknown");
    assert.ok(at.pending.has(requestId), `${requestId} has an answer and an open intent`);
  }
  for (const requestId of at.pending) {
    const call = callOf(seed, requestId);
    const record = await kernel.findCall(at.sessions[call.session]?.id ?? "", requestId);
    if (unknown.has(requestId)) found.unknown++;
    else if (record === undefined) found.absent++;
    else found.recorded++;
  }
  for (const { requestId, sessionId } of intents) {
    const call = callOf(seed, requestId);
    assert.equal(call.tool, "stamp", `${requestId} could have been reconciled`);
    assert.equal(await makeCall(kernel, at.sessions, call), UNKNOWN);
    assert.equal(await makeCall(kernel, at.sessions, call, `${requestId}-twin-${at.starts}`), UNKNOWN);
    const hasHappened = (await readEffects(at.effects)).includes(call.effect ?? "");
    const answer = hasHappened ? "happened" : "did_not_happen";
    await kernel.settleIntent({ sessionId, requestId, answer, by: "ada" });
    if (!hasHappened) continue;
    found.happened++;
    at.settled.add(call.effect ?? "");
  }
  assert.deepEqual(await kernel.listIntents(), []);
}

async function answerPending(kernel: SocketKernel, at: CrashHome, seed: number): Promise<void> {
  const answer = async (requestId: string): Promise<void> => {
    const call = callOf(seed, requestId);
    const given = await makeCall(kernel, at.sessions, call);
    if (given === UNKNOWN) assert.ok(at.settled.has(call.effect ?? ""), `${requestId} stays unknown`);
    else assert.match(given, /^success /, `${requestId} cannot be repeated`);
    at.answered.set(requestId, given);
  };
  await Promise.all(Array.from(at.pending, answer));
  at.pending.clear();
}

/** INVARIANT: by now every call was answered, so every effect is there, and there once. */
async function checkEffects(at: CrashHome, seed: number, found: Findings): Promise<void> {
  const effects = await readEffects(at.effects);
  const seen = new Set(effects);
  found.effects = seen.size;
  found.twice = effects.length - seen.size;
  if (found.twice > 0) found.problems.push(`effects happened twice: ${effects.join(" ").slice(-1000)}`);
  const expected = new Set([...at.answered.keys()].map((requestId) => callOf(seed, requestId).effect));
  expected.delete(undefined);
  assert.deepEqual(seen, expected, "the world outside is not as the answers say");
}

async function checkLedger(kernel: SocketKernel, at: CrashHome): Promise<void> {
  const report = await verifyLedger(kernel.ledgerSource());
  assert.deepEqual(report.problems, []);
  assert.ok(report.intact && report.complete);
  assert.deepEqual([report.openCalls, report.openIntents], [0, 0]);
  const { starts } = await readSpending(kernel, "system");
  assert.ok(
    starts >= at.starts && starts <= at.starts + at.cutShort,
    `${at.starts} starts, and ${starts} in the ledger`,
  );
  for (const { id } of at.sessions) {
    const { spent } = await readSpending(kernel, id);
    const facts = await kernel.getSession(id);
    for (const [dimension, limit] of Object.entries(LOAD_BUDGETS)) {
      const remaining = Number(Reflect.get(facts?.budgetRemaining ?? {}, dimension));
      const expected = limit - (spent.get(dimension) ?? 0);
      const isSpentUnseen = at.failsToStore && dimension === "stored_bytes" && remaining < expected;
      assert.ok(
        remaining === expected || isSpentUnseen,
        `the budget of ${dimension} has ${remaining}, not ${expected}`,
      );
    }
  }
}
