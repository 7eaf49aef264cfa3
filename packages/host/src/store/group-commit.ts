import { KernelError } from "@narthex/contracts";
import type { StoreWrite } from "@narthex/kernel";
import { boundWrite, GroupPacker, isStateTable } from "./packed-group.ts";
import type { RunningWriter, StartWriter } from "./start-writer.ts";
import type { WriterResponse } from "./writer-messages.ts";

interface Group {
  readonly packer: GroupPacker;
  readonly done: PromiseWithResolvers<void>;
}

/** Not copied: its arrays must stay unchanged until it is durable. */
interface WaitingWrite {
  readonly write: StoreWrite;
  readonly done: PromiseWithResolvers<void>;
}

/** Larger buffers are not kept for reuse. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const MAX_KEPT = 2;

export interface OpenedStore {
  readonly nextIndex: number;
  readonly last: { readonly hash: Uint8Array; readonly record: Uint8Array } | undefined;
}

export interface GroupCommitOptions {
  readonly directory: string;
  /** Maximum number of bytes gathered and not yet sent; beyond it, writes wait without being copied. */
  readonly maxGatheredBytes: number;
  readonly startWriter: StartWriter;
}

export interface CommittedGroup {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Sends writes to the writer in groups: while one group is being made durable, the next one is gathered, so that any
 * number of concurrent calls share an fsync. An idle writer starts at the end of the current turn of the event loop.
 */
export class GroupCommit {
  readonly #writer: RunningWriter;
  readonly #options: GroupCommitOptions;
  readonly #opened = Promise.withResolvers<OpenedStore>();
  readonly #exited = Promise.withResolvers<void>();
  readonly #memory: ArrayBuffer[] = [];
  readonly #held: WaitingWrite[] = [];
  #observer: ((group: CommittedGroup) => void) | undefined;
  #gathering: Group | undefined;
  #inFlight: Group | undefined;
  #restart: PromiseWithResolvers<void> | undefined;
  readonly #scrubs: PromiseWithResolvers<void>[] = [];
  #scheduled = false;
  #nextIndex = 0;
  #problem: string | undefined;
  #closing = false;
  #paused = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#writer = options.startWriter(options.directory, {
      onResponse: (answer) => this.#take(answer),
      fail: (fault) => this.break(`its writer failed: ${String(fault)}`),
      end: () => {
        this.break("its writer ended");
        this.#exited.resolve();
      },
    });
  }

  async open(): Promise<OpenedStore> {
    const opened = await this.#opened.promise;
    this.#nextIndex = opened.nextIndex;
    this.#writer.unref();
    return opened;
  }

  /** Called after each durable group. */
  observe(observer: (group: CommittedGroup) => void): void {
    this.#observer = observer;
  }

  append(write: StoreWrite): Promise<void> {
    if (this.#closing) return Promise.reject(unavailable("it is closed"));
    if (this.#problem === undefined) this.#check(write);
    if (this.#problem !== undefined) return Promise.reject(unavailable(this.#problem));
    this.#nextIndex++;
    if (this.#held.length > 0 || !this.#hasRoomFor(write)) {
      const done = Promise.withResolvers<void>();
      this.#held.push({ write, done });
      return done.promise;
    }
    const group = this.#gather(write);
    this.#schedule();
    return group.done.promise;
  }

  /** Restarts the WAL from its beginning, between two groups. */
  restartWal(): Promise<void> {
    if (this.#problem !== undefined) return Promise.resolve();
    if (this.#restart === undefined) {
      this.#restart = Promise.withResolvers<void>();
      this.#writer.send({ kind: "restart" });
    }
    return this.#restart.promise;
  }

  /**
   * Removes the rows of erased digests and empties the WAL, between two groups; with `rewrite`, rewrites the whole
   * file.
   */
  scrub(digests: readonly string[], rewrite: boolean): Promise<void> {
    if (this.#problem !== undefined) return Promise.reject(unavailable(this.#problem));
    const done = Promise.withResolvers<void>();
    this.#scrubs.push(done);
    this.#writer.send({ kind: "scrub", digests, rewrite });
    return done.promise;
  }

  /** INVARIANT: a broken store stays broken; a write that was not acknowledged never will be. */
  break(reason: string): void {
    if (this.#problem !== undefined) return;
    this.#problem = reason;
    this.#writer.unref();
    const error = unavailable(reason);
    this.#opened.reject(new KernelError("STORE_UNAVAILABLE", `the store cannot be opened: ${reason}`));
    this.#inFlight?.done.reject(error);
    this.#gathering?.done.reject(error);
    this.#restart?.resolve();
    for (const done of this.#scrubs.splice(0)) done.reject(error);
    for (const { done } of this.#held.splice(0)) done.reject(error);
    this.#inFlight = undefined;
    this.#gathering = undefined;
  }

  /** Gathers further groups without sending them. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#schedule();
  }

  /** Accepts no more writes; resolves when every appended write is durable or has failed. */
  async drain(): Promise<void> {
    this.#closing = true;
    this.resume();
    while (this.#problem === undefined) {
      const last = this.#held.at(-1) ?? this.#gathering ?? this.#inFlight;
      if (last === undefined) return;
      await last.done.promise.catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.drain();
    this.#writer.send({ kind: "close" });
    await this.#exited.promise;
  }

  /** Prevents a ledger with a gap, or with names that become equal when encoded. */
  #check(write: StoreWrite): void {
    if (write.index !== this.#nextIndex) {
      this.break(`record ${write.index} was appended where ${this.#nextIndex} is due`);
    } else if (!hasSoundNames(write)) {
      this.break(`record ${write.index} has a name with a lone surrogate, or a state table that does not exist`);
    }
  }

  /** A single write always fits, whatever its size. */
  #hasRoomFor(write: StoreWrite): boolean {
    const gathered = this.#gathering?.packer.byteLength ?? 0;
    return gathered === 0 || gathered + boundWrite(write) <= this.#options.maxGatheredBytes;
  }

  #gather(write: StoreWrite): Group {
    this.#gathering ??= { packer: new GroupPacker(this.#memory.pop()), done: Promise.withResolvers<void>() };
    this.#gathering.packer.add(write);
    return this.#gathering;
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || this.#inFlight !== undefined) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#inFlight === undefined) this.#dispatch();
    });
  }

  #dispatch(): void {
    if (this.#problem !== undefined) return;
    const group = this.#gathering;
    if (group === undefined || this.#paused) return;
    this.#gathering = undefined;
    this.#inFlight = group;
    const { memory, byteLength } = group.packer;
    this.#writer.send({ kind: "commit", memory, byteLength }, [memory]);
    this.#releaseHeld();
  }

  #releaseHeld(): void {
    while (this.#held.length > 0) {
      const next = this.#held[0];
      if (next === undefined || !this.#hasRoomFor(next.write)) return;
      this.#held.shift();
      this.#gather(next.write).done.promise.then(next.done.resolve, next.done.reject);
    }
  }

  #take(answer: WriterResponse): void {
    switch (answer.kind) {
      case "opened":
        this.#opened.resolve(answer);
        return;
      case "committed":
        this.#acknowledge(answer.memory);
        return;
      case "restarted":
        this.#restart?.resolve();
        this.#restart = undefined;
        this.#rest();
        return;
      case "scrubbed":
        this.#endScrub(answer.problem);
        return;
      case "failed":
        this.break(answer.reason);
        return;
      case "closed":
        return;
    }
  }

  #endScrub(problem: string): void {
    const done = this.#scrubs.shift();
    if (problem === "") done?.resolve();
    else done?.reject(new KernelError("STORE_UNAVAILABLE", `the store could not be cleared: ${problem}; try again`));
    this.#rest();
  }

  #acknowledge(memory: ArrayBuffer): void {
    const group = this.#inFlight;
    if (group === undefined) return;
    this.#inFlight = undefined;
    if (memory.byteLength <= MAX_KEPT_BYTES && this.#memory.length < MAX_KEPT) this.#memory.push(memory);
    group.done.resolve();
    if (this.#gathering !== undefined) this.#dispatch();
    this.#rest();
    this.#observer?.({ records: group.packer.count, bytes: group.packer.byteLength });
  }

  /** Lets the process exit while nothing is pending. */
  #rest(): void {
    const isIdle = this.#inFlight === undefined && this.#restart === undefined && this.#scrubs.length === 0;
    if (isIdle && !this.#closing) this.#writer.unref();
  }
}

function hasSoundNames(write: StoreWrite): boolean {
  if (!write.chain.isWellFormed() || !write.requestId.isWellFormed()) return false;
  for (const { table, key } of write.state) if (!key.isWellFormed() || !isStateTable(table)) return false;
  return true;
}

function unavailable(reason: string): KernelError {
  return new KernelError("STORE_UNAVAILABLE", `the store takes no more records: ${reason}`);
}
