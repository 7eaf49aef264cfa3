import type { GroupCommit } from "./group-commit.ts";
import type { Reader } from "./reader.ts";

/** New records after which the index is brought up to date without waiting for a quiet moment. */
const INDEX_RECORDS = 2048;
/** New bytes after which the log is moved into the file. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;
/** A log this long is started again by the writer itself: under constant load nobody else finds the moment. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;
/** The index may lag this far behind; then commits wait for it, so that no question ever waits for long. */
const MAX_UNINDEXED = 128 * 1024;
const QUIET_MS = 250;

/** Decides when the index is written and the log moved: both off the commit path, neither ever far behind. */
export class Maintenance {
  readonly #commit: GroupCommit;
  readonly #reader: Reader;
  #records = 0;
  #bytes = 0;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(commit: GroupCommit, reader: Reader) {
    this.#commit = commit;
    this.#reader = reader;
  }

  noteCommit(records: number, bytes: number): void {
    this.#records += records;
    this.#bytes += bytes;
    if (this.#records >= MAX_UNINDEXED) this.#commit.pause();
    if (this.#records >= INDEX_RECORDS || this.#bytes >= CHECKPOINT_BYTES) this.#start({ flush: false });
    this.#timer ??= setTimeout(() => this.#quiet(), QUIET_MS).unref();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #quiet(): void {
    this.#timer = undefined;
    if (this.#bytes > 0) this.#start({ flush: true });
  }

  #start(options: { readonly flush: boolean }): void {
    if (this.#stopped || this.#running !== undefined) return;
    this.#records = 0;
    this.#bytes = 0;
    this.#running = this.#run(options).finally(() => {
      this.#running = undefined;
      this.#commit.resume();
    });
  }

  async #run(options: { readonly flush: boolean }): Promise<void> {
    try {
      const { logBytes } = await this.#reader.ask("maintain", options);
      if (logBytes > MAX_LOG_BYTES) await this.#commit.restartLog();
    } catch (error) {
      // The disk that refused the index or the log is the one that holds the records.
      this.#commit.break(error instanceof Error ? error.message : String(error));
    }
  }
}
