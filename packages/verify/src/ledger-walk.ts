import { HASH_SIZE } from "@narthex/contracts";
import { Chain } from "./chain.ts";
import { checkCall } from "./check-call.ts";
import { checkChain, passBadRecord, reportBreak } from "./check-chain.ts";
import { ContentCheck } from "./check-content.ts";
import { checkSession } from "./check-session.ts";
import type { RowHashes } from "./hash/batch-hasher.ts";
import type { LedgerRow, LedgerSource } from "./ledger-source.ts";
import { TreeCheck, type TreeCheckOptions } from "./merkle/check-tree.ts";
import { NOT_A_ROW, openRecord, RecordFault } from "./open-record.ts";
import { ProblemList } from "./problem-list.ts";
import { encodeVerifiedState, type VerifiedState } from "./verified/verified-state.ts";
import { wholeSlice } from "./wire/slice.ts";
import type { VerifyReport } from "./verify-report.ts";

export interface WalkOptions {
  readonly signal: AbortSignal | undefined;
  /** The state of an earlier run to continue from. */
  readonly before: VerifiedState | undefined;
  /** Content is not checked. */
  readonly recordsOnly: boolean;
}

/** Processes the rows of a ledger in order and applies every rule to each. */
export class LedgerWalk {
  records = 0;
  readonly #problems = new ProblemList();
  readonly #chains = new Map<string, Chain>();
  readonly #content: ContentCheck;
  readonly #log: TreeCheck;
  /** If the records of other sessions were left out, only each chain by itself is complete. */
  readonly #isPartial: boolean;
  readonly #recordsOnly: boolean;
  #nextIndex = 0;
  #wallTimeMs = 0;
  #headHash: Uint8Array = new Uint8Array(0);
  /** No record so far was missing or bad. */
  #sound = true;

  constructor(source: LedgerSource, log: TreeCheckOptions, options: WalkOptions) {
    const { before } = options;
    this.#recordsOnly = options.recordsOnly;
    this.#log = new TreeCheck(this.#problems, { ...log, before: before?.verifiedTree });
    this.#content = new ContentCheck(source, this.#problems, options);
    this.#isPartial = source.isPartial === true;
    if (this.#isPartial) this.#log.stop();
    if (before === undefined) return;
    this.records = before.records;
    this.#nextIndex = before.records;
    this.#wallTimeMs = before.wallTimeMs;
    this.#headHash = before.headHash;
    for (const chain of before.chains) this.#chains.set(chain.name, chain);
  }

  /**
   * The state for the next run to continue from, or why it cannot continue. Called before `finish`; valid if that finds
   * no problem.
   */
  async remember(verifiedAtMs: number): Promise<Uint8Array | string> {
    await this.#content.resolveOlder();
    if (this.#isPartial || this.#recordsOnly) return "something was left out";
    if (this.#problems.count > 0) return "something is wrong";
    const log = this.#log.remember();
    if (typeof log === "string") return log;
    const state: VerifiedState = {
      records: this.records,
      headHash: this.#headHash,
      wallTimeMs: this.#wallTimeMs,
      contentItems: this.#content.items,
      erasedItems: this.#content.erased,
      leftOutItems: this.#content.leftOut,
      proofs: this.#content.proofs,
      chains: [...this.#chains.values()],
      verifiedTree: log,
      verifiedAtMs,
    };
    return encodeVerifiedState(state) ?? "it has more sessions than can be remembered";
  }

  /** `hashes` is undefined for an invalid row. */
  take(row: LedgerRow, hashes: RowHashes | undefined): Promise<void> | undefined {
    this.records++;
    const opened = hashes === undefined ? NOT_A_ROW : openRecord(row, hashes.record);
    if (opened instanceof RecordFault || hashes === undefined) {
      this.#passBadRow(row, opened instanceof RecordFault ? opened : NOT_A_ROW);
      return undefined;
    }
    const { record, wrongColumns } = opened;
    this.#headHash = row.hash;
    const place = { index: this.#nextIndex, chain: record.chain };
    if (wrongColumns !== "") {
      this.#problems.add(
        "column_mismatch",
        place,
        `the row's columns do not say what its record says: ${wrongColumns}`,
      );
    }
    if (!this.#checkIndex(record.index, record.chain)) return undefined;
    this.#log.inspect(record);
    this.#log.add(hashes.record);
    if (record.wallTimeMs < this.#wallTimeMs) this.#problems.add("wall_time_back", record, "the wall clock goes back");
    this.#wallTimeMs = Math.max(this.#wallTimeMs, record.wallTimeMs);

    const chain = this.#chain(record.chain);
    if (!checkChain(chain, opened, this.#problems)) {
      this.#sound = false;
      return undefined;
    }
    checkSession(chain, record, this.#problems);
    const call = checkCall(chain, record, this.#problems);
    if (this.#recordsOnly) return undefined;
    this.#content.explainErasures(record, this.#sound && !this.#isPartial);
    return this.#content.check(chain, record, hashes, call);
  }

  get isSound(): boolean {
    return this.#problems.count === 0;
  }

  sourceFailed(): void {
    this.#sound = false;
    this.#log.stop();
    this.#problems.add("unreadable", { index: this.#nextIndex, chain: "" }, "the ledger cannot be read from here on");
  }

  skipTree(): void {
    this.#log.skip();
  }

  /** Waits for the reads that records have requested. */
  settle(): Promise<void> | undefined {
    const waiting = [this.#log.settle(), this.#content.settle()].filter((each) => each !== undefined);
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined);
  }

  async finish(): Promise<void> {
    await this.#log.finish();
    for (const chain of this.#chains.values()) reportBreak(chain, this.#problems);
    if (!this.#recordsOnly) await this.#content.finish(this.#sound && !this.#isPartial);
  }

  report(): VerifyReport {
    const open = this.#countOpen();
    const log = this.#log.report();
    return {
      intact: !this.#problems.has("integrity"),
      complete: !this.#problems.has("completeness"),
      records: this.records,
      chains: this.#chains.size,
      contentItems: this.#content.items,
      erasedItems: this.#content.erased,
      proofs: this.#content.proofs,
      leftOutItems: this.#content.leftOut,
      openCalls: open.calls,
      openIntents: open.intents,
      unprovenTail: this.records - log.provenSize,
      log,
      areas: this.#problems.areas(),
      problems: this.#problems.list(),
      problemCount: this.#problems.count,
      headHash: this.#headHash.slice(),
    };
  }

  #countOpen(): { readonly calls: number; readonly intents: number } {
    let calls = 0;
    let intents = 0;
    for (const chain of this.#chains.values()) {
      for (const [, call] of chain.openCalls()) {
        if (call.step === "settled") continue;
        calls++;
        if (call.intent) intents++;
      }
    }
    return { calls, intents };
  }

  /** Of a bad record only its position and the chain in its row are known. */
  #passBadRow(row: LedgerRow, fault: RecordFault): void {
    const chain = typeof row.chain === "string" ? row.chain : "";
    this.#sound = false;
    this.#headHash = row.hash instanceof Uint8Array ? row.hash : this.#headHash;
    this.#problems.add(fault.code, { index: this.#nextIndex, chain }, fault.message);
    this.#nextIndex++;
    // The tree contains the hash that was stored with the record.
    if (row.hash instanceof Uint8Array && row.hash.length === HASH_SIZE) this.#log.add(wholeSlice(row.hash));
    else this.#log.stop();
    passBadRecord(this.#chain(chain), this.#problems);
  }

  /** Checks that indexes have no gaps from 0. Returns false for a record whose index is lower than expected. */
  #checkIndex(index: number, chain: string): boolean {
    const due = this.#nextIndex;
    if (index < due) {
      this.#sound = false;
      this.#problems.add("index_repeated", { index: due, chain }, `record ${index} stands where record ${due} is due`);
      return false;
    }
    if (index > due && !this.#isPartial) {
      const missing = index - due;
      this.#sound = false;
      this.#log.stop();
      this.#problems.add("index_gap", { index: due, chain: "" }, `${missing} records from here on are missing`);
    }
    this.#nextIndex = index + 1;
    return true;
  }

  #chain(name: string): Chain {
    let chain = this.#chains.get(name);
    if (chain === undefined) {
      chain = new Chain(name);
      this.#chains.set(name, chain);
    }
    return chain;
  }
}
