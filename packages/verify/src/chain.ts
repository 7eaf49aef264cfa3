import { HASH_SIZE } from "@narthex/contracts";
import type { Call } from "./call.ts";
import { type Slice, wholeSlice } from "./wire/slice.ts";

/** The state of a chain between its records. */
export class Chain {
  readonly name: string;
  nextSequence = 0;
  readonly #head = wholeSlice(new Uint8Array(HASH_SIZE));
  #headKnown = false;
  headIndex = 0;
  logicalTimeMs = 0;
  /** Two adjacent records that do not fit together, until the following ones show which of them is bad. */
  break: ChainBreak | undefined;
  /** Records are missing or bad: later records are not blamed for what these would have contained. */
  damaged = false;
  closed = false;
  // Most chains are idle most of the time, so these maps exist only while they have entries.
  #calls: Map<string, Call> | undefined;
  #approvals: Map<string, "open" | "given"> | undefined;
  #standing: Set<string> | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Hash of the last record; undefined if that record was bad. */
  get headHash(): Slice | undefined {
    return this.#headKnown ? this.#head : undefined;
  }

  set headHash(hash: Slice | undefined) {
    this.#headKnown = hash !== undefined;
    if (hash === undefined) return;
    // Reuses the same few bytes, because this runs once for every record of the ledger.
    for (let i = 0; i < HASH_SIZE; i++) this.#head.bytes[i] = hash.bytes[hash.start + i] ?? 0;
  }

  /** The call with this id, if it has no outcome yet. */
  openCall(requestId: string): Call | undefined {
    return this.#calls?.get(requestId);
  }

  /** All calls without an outcome, by request id. */
  openCalls(): Iterable<readonly [string, Call]> {
    return this.#calls ?? [];
  }

  keepCall(requestId: string, call: Call): void {
    this.#calls ??= new Map();
    this.#calls.set(requestId, call);
  }

  forgetCall(requestId: string): void {
    this.#calls?.delete(requestId);
    if (this.#calls?.size === 0) this.#calls = undefined;
  }

  requestApproval(approvalId: string): void {
    this.#approvals ??= new Map();
    this.#approvals.set(approvalId, "open");
  }

  /** `open`: requested, and not finally decided. `given`: granted, and not consumed by a call. */
  approvalState(approvalId: string): "open" | "given" | undefined {
    return this.#approvals?.get(approvalId);
  }

  approvals(): Iterable<readonly [string, "open" | "given"]> {
    return this.#approvals ?? [];
  }

  grantApproval(approvalId: string): void {
    this.#approvals ??= new Map();
    this.#approvals.set(approvalId, "given");
  }

  closeApproval(approvalId: string): void {
    this.#approvals?.delete(approvalId);
    if (this.#approvals?.size === 0) this.#approvals = undefined;
  }

  /** Adds a standing approval. */
  addStanding(standingId: string): void {
    this.#standing ??= new Set();
    this.#standing.add(standingId);
  }

  isStanding(standingId: string): boolean {
    return this.#standing?.has(standingId) === true;
  }

  standing(): Iterable<string> {
    return this.#standing ?? [];
  }

  revokeStanding(standingId: string): void {
    this.#standing?.delete(standingId);
  }
}

export interface ChainBreak {
  readonly earlierIndex: number;
  readonly laterIndex: number;
}
