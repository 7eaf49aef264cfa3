import type { CommittedGroup, GroupCommit } from "./group-commit.ts";
import type { Reader } from "./reader.ts";

/** Number of new records after which the index is updated without waiting for a quiet moment. */
const INDEX_RECORDS = 8192;
/** Number of new bytes after which the WAL is checkpointed. */
const WAL_BYTES = 8 * 1024 * 1024;
/** The writer itself restarts a WAL of this size: under constant load no other moment comes. */
const MAX_WAL_BYTES = 32 * 1024 * 1024;
/**
 * Above these limits commits wait: for the index, so that no query takes long, and for the WAL, so that it fits on the
 * disk.
 */
const MAX_UNINDEXED = 128 * 1024;
const MAX_UNMOVED_BYTES = 64 * 1024 * 1024;
const QUIET_MS = 250;

/** Decides when to write the index and checkpoint the WAL: both off the commit path, neither ever far behind. */
export class Maintenance {
  readonly #commit: GroupCommit;
  readonly #reader: Reader;
  #records = 0;
  #bytes = 0;
  #commits = 0;
  #unindexed = 0;
  #indexing: Promise<void> | undefined;
  #moving: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  #copies = 0;

  constructor(commit: GroupCommit, reader: Reader) {
    this.#commit = commit;
    this.#reader = reader;
    commit.observe((group) => this.#note(group));
  }

  /** Resolves when no maintenance is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#indexing, this.#moving]);
  }

  /** The WAL is not restarted during a copy, because a restart waits for all readers. */
  async whileCopying(copy: () => Promise<void>): Promise<void> {
    this.#copies++;
    try {
      await copy();
    } finally {
      this.#copies--;
    }
  }

  #note({ records, bytes }: CommittedGroup): void {
    this.#commits++;
    this.#records += records;
    this.#unindexed += records;
    this.#bytes += bytes;
    if (this.#records >= INDEX_RECORDS) this.#advanceIndex({ flush: false });
    if (this.#bytes >= WAL_BYTES) this.#moveLog();
    if (this.#timer === undefined) this.#awaitQuiet();
    this.#regulate();
  }

  /** While commits keep coming, writing the index in small parts would only cost time. */
  #awaitQuiet(): void {
    const seen = this.#commits;
    this.#timer = setTimeout(() => {
      if (this.#commits !== seen) {
        this.#awaitQuiet();
        return;
      }
      this.#timer = undefined;
      this.#advanceIndex({ flush: true });
      this.#moveLog();
    }, QUIET_MS).unref();
  }

  #advanceIndex(options: { readonly flush: boolean }): void {
    if (this.#stopped || this.#indexing !== undefined) return;
    const started = this.#unindexed;
    this.#records = 0;
    this.#indexing = this.#reader
      .ask("advanceIndex", options)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#indexing = undefined;
        this.#unindexed -= started;
        this.#regulate();
      });
  }

  #moveLog(): void {
    if (this.#stopped || this.#moving !== undefined) return;
    this.#bytes = 0;
    this.#moving = this.#reader
      .ask("moveLog")
      .then((bytes) => (bytes > MAX_WAL_BYTES && this.#copies === 0 ? this.#commit.restartWal() : undefined))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#moving = undefined;
        this.#regulate();
      });
  }

  #regulate(): void {
    const behind = this.#unindexed >= MAX_UNINDEXED || this.#bytes >= MAX_UNMOVED_BYTES;
    if (behind && !this.#stopped) this.#commit.pause();
    else this.#commit.resume();
  }

  /** A disk error while writing the index or the WAL breaks the store, because the records are on the same disk. */
  #fail(error: unknown): void {
    this.#commit.break(error instanceof Error ? error.message : String(error));
  }
}
