import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setInterval } from "node:timers";
import { ContentPlace, ContentRole } from "@narthex/contracts";
import {
  createMerklePublication,
  createSystemRandom,
  homePaths,
  openLedgerStore,
  openSigningKeys,
  systemClock,
} from "@narthex/host";
import type { ContentDraft, EntryDraft } from "@narthex/kernel";
import { createLedger } from "../../../packages/kernel/src/ledger/ledger.ts";
import { createCheckpoints } from "../../../packages/kernel/src/merkle/checkpoints.ts";

/** A ledger on its store, with or without the log beside it. */
export interface BenchedLedger {
  /** One record of a typical read-only call. */
  append(): Promise<void>;
  /** How many checkpoints were signed. */
  readonly signed: () => number;
  close(): Promise<void>;
}

const CHAIN = "ses_aaaaaaaaaaaaaaaaaaaa";
/** As a kernel that serves does it. */
const TICK_MS = 1000;
const SETTINGS = { everyRecords: 1000, everyMs: 60_000 };

export async function openBenchedLedger(
  directory: string,
  log: "with the log" | "chain alone",
): Promise<BenchedLedger> {
  mkdirSync(join(directory, "keys"), { recursive: true, mode: 0o700 });
  const store = await openLedgerStore({ paths: homePaths(directory) });
  const ledger = await createLedger({
    store,
    clock: systemClock,
    onFailure(failure) {
      throw failure;
    },
  });
  await ledger.loadChain(CHAIN);
  await ledger.loadChain("system");
  const draft = exampleCall();
  let signed = 0;
  const publication = createMerklePublication(join(directory, "log"));
  const checkpoints = createCheckpoints({
    store,
    ledger,
    clock: systemClock,
    random: createSystemRandom(),
    logger: (_level, message) => {
      throw new Error(message);
    },
    tree: store.tree,
    keys: openSigningKeys(join(directory, "keys")),
    publication: {
      ...publication,
      async writeCheckpoint(note) {
        await publication.writeCheckpoint(note);
        signed++;
      },
    },
    settings: SETTINGS,
  });
  const timer = log === "with the log" ? setInterval(() => void checkpoints.tick(), TICK_MS) : undefined;
  return {
    async append() {
      await ledger.append(draft);
    },
    signed: () => signed,
    async close() {
      clearInterval(timer);
      if (timer !== undefined) await checkpoints.close();
      ledger.close();
      await store.close();
    },
  };
}

/** What `echo` leaves: six entries, five content items. */
function exampleCall(): { chain: string; requestId: string; entries: EntryDraft[]; content: ContentDraft[] } {
  const hash = randomBytes(32);
  const entries: EntryDraft[] = [
    {
      case: "toolInvoked",
      value: {
        toolName: "echo",
        toolVersion: "1.0.0",
        definitionHash: hash,
        inputCommitment: hash,
        requestCommitment: hash,
        door: "in-process",
      },
    },
    { case: "capabilityCheck", value: { granted: true } },
    { case: "policyDecision", value: { allowed: true, proofCommitment: hash, policyRequestCommitment: hash } },
    { case: "toolStarted", value: { callNumber: 1 } },
    {
      case: "toolCompleted",
      value: { success: true, requestCommitment: hash, proofCommitment: hash, resultCommitment: hash, resultSize: 12 },
    },
  ];
  const roles = [
    ContentRole.INPUT,
    ContentRole.REQUEST,
    ContentRole.PROOF,
    ContentRole.POLICY_REQUEST,
    ContentRole.RESULT,
  ];
  const content = roles.map((role) => {
    const data = randomBytes(80);
    return { role, digest: randomBytes(32), nonce: randomBytes(32), size: data.length, place: ContentPlace.ROW, data };
  });
  return { chain: CHAIN, requestId: "", entries, content };
}
