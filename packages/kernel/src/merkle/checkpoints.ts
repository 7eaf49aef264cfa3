import { KernelError } from "@narthex/contracts";
import type { Clock, Logger } from "../ports.ts";
import { describeFault } from "../result/describe-fault.ts";
import { announceFirstKey, replaceLostKey, rotateKey } from "./announce-key.ts";
import { type MerkleParts, type SignableTree, openTree, openTreeWithLostKey } from "./open-tree.ts";
import { findCheckpoint, proveConsistency, proveRecord } from "./prove.ts";
import type { ConsistencyProof, InclusionProof } from "./proof-text.ts";
import type { AnnouncedKey, SignedCheckpoint } from "./recorded-checkpoint.ts";
import { countUncovered, signCheckpoint } from "./sign-checkpoint.ts";

/** When checkpoints are signed. */
export interface CheckpointSettings {
  readonly everyRecords: number;
  readonly everyMs: number;
}

export interface CheckpointParts extends MerkleParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: CheckpointSettings;
}

/** Signs for the ledger, beside the path of calls and never on it. */
export interface Checkpoints {
  /** From now on checkpoints are signed in time, and when it is closed. */
  serve(): void;
  /** Signs if it is time to. Called once a second; never rejects. */
  tick(): Promise<void>;
  /** Signs for what no checkpoint covers yet; the last one again if there is nothing. */
  sign(): Promise<IssuedCheckpoint>;
  find(size: number | undefined): Promise<SignedCheckpoint>;
  /** Has a new key sign from now on. */
  rotateKey(): Promise<RotatedKey>;
  /** The same where the key in use is gone. Refused where it is there. */
  replaceLostKey(): Promise<RotatedKey>;
  proveRecord(index: number, size: number | undefined): Promise<InclusionProof & { readonly treeSize: number }>;
  proveConsistency(from: number, to: number | undefined): Promise<ConsistencyProof & ProvenSizes>;
  /** Signs a last time if it served and there is news, and resolves when nothing is under way. Never rejects. */
  close(): Promise<void>;
}

export interface IssuedCheckpoint extends SignedCheckpoint {
  readonly verifierKey: string;
  readonly isNew: boolean;
}

export interface RotatedKey {
  readonly announced: AnnouncedKey;
  readonly previousVerifierKey: string;
  /** Signed by the new key, so that it covers its announcement. */
  readonly checkpoint: SignedCheckpoint;
}

interface ProvenSizes {
  readonly from: number;
  readonly to: number;
}

export function createCheckpoints(parts: CheckpointParts): Checkpoints {
  const { ledger, clock, logger, settings } = parts;
  const countAtStart = ledger.durableCount();
  let opened: SignableTree | undefined;
  let isServing = false;
  let lastMs = clock.monotonicMs();
  let lastFault = "";
  let last: Promise<unknown> = Promise.resolve();

  /** One thing at a time; whatever went wrong, the next one starts from what is on the disk. */
  function inTurn<T>(act: (log: SignableTree) => Promise<T>): Promise<T> {
    return takeTurn(async () => act((opened ??= await openTree(parts))));
  }

  function takeTurn<T>(act: () => Promise<T>): Promise<T> {
    const turn = last.then(async () => {
      try {
        return await act();
      } catch (fault) {
        opened = undefined;
        throw fault;
      }
    });
    last = turn.catch(() => undefined);
    return turn;
  }

  async function signNews(current: SignableTree): Promise<IssuedCheckpoint> {
    let now = current;
    const news = countUncovered(now.head, ledger.durableCount());
    if (now.head !== undefined && news <= 0) return { ...now.head, verifierKey: now.key.text, isNew: false };
    if (now.keyRecords.length === 0) now = await announceFirstKey(now, parts);
    const head = await signCheckpoint(now, parts);
    opened = { ...now, head };
    lastMs = clock.monotonicMs();
    lastFault = "";
    return { ...head, verifierKey: now.key.text, isNew: true };
  }

  function isDue({ head }: SignableTree): boolean {
    const news = countUncovered(head, ledger.durableCount());
    if (news <= 0) return false;
    return news >= settings.everyRecords || clock.monotonicMs() - lastMs >= settings.everyMs;
  }

  /** For what nobody waits for. */
  async function signQuietly(isWanted: (current: SignableTree) => boolean): Promise<void> {
    try {
      await inTurn(async (current) => (isWanted(current) ? signNews(current) : undefined));
    } catch (fault) {
      // What is wrong now will be wrong in a second, too.
      lastMs = clock.monotonicMs();
      const message = fault instanceof Error ? fault.message : String(fault);
      if (message !== lastFault) {
        logger("error", `no checkpoint could be signed: ${message}`, { cause: describeFault(fault) });
      }
      lastFault = message;
    }
  }

  /** Of a kernel that did a thing or two and ends: it does not even look for the key unless there is much to sign for. */
  async function isLongOverdue(): Promise<boolean> {
    if (ledger.durableCount() === countAtStart) return false;
    const head = await findCheckpoint(undefined, parts).catch(() => undefined);
    return countUncovered(head, ledger.durableCount()) >= settings.everyRecords;
  }

  let isTicking = false;
  return {
    serve() {
      isServing = true;
      // The key is made at the first start, and what is wrong with the log is told at once.
      void signQuietly(() => false);
    },
    async tick() {
      const mayTry = lastFault === "" || clock.monotonicMs() - lastMs >= settings.everyMs;
      if (isTicking || !mayTry || ledger.failure !== undefined) return;
      isTicking = true;
      await signQuietly(isDue);
      isTicking = false;
    },
    sign: () => inTurn(signNews),
    find: (size) => findCheckpoint(size, parts),
    rotateKey: () =>
      inTurn(async (current) => {
        const { verifierKey } = await signNews(current);
        const before = opened;
        if (before === undefined) throw new KernelError("INTERNAL", "the log is not open");
        const { log: after, announced } = await rotateKey(before, parts);
        const checkpoint = await signNews(after);
        return { announced, previousVerifierKey: verifierKey, checkpoint };
      }),
    replaceLostKey: () =>
      takeTurn(async () => {
        const before = await openTreeWithLostKey(parts);
        const { log: after, announced } = await replaceLostKey(before, parts);
        const checkpoint = await signNews(after);
        logger("warn", "a new key signs checkpoints, and nothing vouches for it: the one before it was lost");
        return { announced, previousVerifierKey: before.key.text, checkpoint };
      }),
    proveRecord: (index, size) => proveRecord(index, size, parts),
    proveConsistency: (from, to) => proveConsistency(from, to, parts),
    async close() {
      if (ledger.failure === undefined && (isServing || (await isLongOverdue()))) {
        await signQuietly(({ head }) => countUncovered(head, ledger.durableCount()) > 0);
      }
      await last;
    },
  };
}
