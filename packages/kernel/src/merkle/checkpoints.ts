import { KernelError } from "@narthex/contracts";
import type { Clock, Logger } from "../ports.ts";
import { describeFault } from "../result/describe-fault.ts";
import { announceFirstKey, replaceLostKey, rotateKey } from "./announce-key.ts";
import { type MerkleParts, type SignableTree, openTree, openTreeWithLostKey } from "./open-tree.ts";
import { findCheckpoint, proveConsistency, proveRecord } from "./prove.ts";
import type { ConsistencyProof, InclusionProof } from "./proof-text.ts";
import type { AnnouncedKey, SignedCheckpoint } from "./recorded-checkpoint.ts";
import { countUncovered, signCheckpoint } from "./sign-checkpoint.ts";

/** Thresholds at which a checkpoint is signed. */
export interface CheckpointSettings {
  readonly everyRecords: number;
  readonly everyMs: number;
}

export interface CheckpointParts extends MerkleParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: CheckpointSettings;
}

/** Signs checkpoints of the ledger in the background, so that calls never wait for it. */
export interface Checkpoints {
  /** Starts signing checkpoints when they are due, and when the kernel closes. */
  serve(): void;
  /** Signs a checkpoint if one is due. Called once a second; never rejects. */
  tick(): Promise<void>;
  /** Signs a checkpoint for records that none covers yet; returns the newest one if there are no such records. */
  sign(): Promise<IssuedCheckpoint>;
  find(size: number | undefined): Promise<SignedCheckpoint>;
  /** Replaces the signing key. */
  rotateKey(): Promise<RotatedKey>;
  /** Replaces a signing key that is lost. Refused while the key is available. */
  replaceLostKey(): Promise<RotatedKey>;
  proveRecord(index: number, size: number | undefined): Promise<InclusionProof & { readonly treeSize: number }>;
  proveConsistency(from: number, to: number | undefined): Promise<ConsistencyProof & ProvenSizes>;
  /**
   * Signs a last checkpoint if `serve` was called, or many records are uncovered, and resolves when no work is pending.
   * Never rejects.
   */
  close(): Promise<void>;
}

export interface IssuedCheckpoint extends SignedCheckpoint {
  readonly verifierKey: string;
  readonly isNew: boolean;
}

export interface RotatedKey {
  readonly announced: AnnouncedKey;
  readonly previousVerifierKey: string;
  /** Signed by the new key; it covers the key's announcement. */
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

  /** Runs one operation at a time. After a failure, the next operation reads the state from disk again. */
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

  /** Signs in the background, where no caller waits for the outcome: logs failures instead of rejecting. */
  async function signQuietly(isWanted: (current: SignableTree) => boolean): Promise<void> {
    try {
      await inTurn(async (current) => (isWanted(current) ? signNews(current) : undefined));
    } catch (fault) {
      // The cause is unlikely to be gone within a second: the next attempt waits for the full interval.
      lastMs = clock.monotonicMs();
      const message = fault instanceof Error ? fault.message : String(fault);
      if (message !== lastFault) {
        logger("error", `no checkpoint could be signed: ${message}`, { cause: describeFault(fault) });
      }
      lastFault = message;
    }
  }

  /**
   * Whether a short-lived kernel leaves many records uncovered. Unless it does, such a kernel does not even open the
   * signing key.
   */
  async function isLongOverdue(): Promise<boolean> {
    if (ledger.durableCount() === countAtStart) return false;
    const head = await findCheckpoint(undefined, parts).catch(() => undefined);
    return countUncovered(head, ledger.durableCount()) >= settings.everyRecords;
  }

  let isTicking = false;
  return {
    serve() {
      isServing = true;
      // Opens the tree now, so that the key is created at the first start and problems with the tree are reported at
      // once.
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
