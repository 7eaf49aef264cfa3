import { createBlake3 } from "@narthex/contracts";
import { digestKey } from "./digest-key.ts";
import { sameBytes } from "./ledger-hash.ts";
import type { LedgerSource } from "./ledger-source.ts";

export type FileFinding = "missing" | "damaged" | "unreadable" | { readonly size: number };

/** Above this number of distinct files, some are read twice: that costs time but not memory. */
const MAX_REMEMBERED = 200_000;

/** Reads and hashes content files, each one once. */
export class ContentFiles {
  readonly #source: LedgerSource;
  readonly #signal: AbortSignal | undefined;
  readonly #known = new Map<string, FileFinding>();

  constructor(source: LedgerSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  async find(digest: Uint8Array): Promise<FileFinding> {
    const key = digestKey(digest);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const finding = await this.#read(digest);
    if (this.#known.size >= MAX_REMEMBERED) this.#known.clear();
    this.#known.set(key, finding);
    return finding;
  }

  async #read(digest: Uint8Array): Promise<FileFinding> {
    const hasher = createBlake3();
    let size = 0;
    try {
      const chunks = await this.#source.readFile(digest.slice());
      if (chunks === undefined) return "missing";
      for await (const chunk of chunks) {
        this.#signal?.throwIfAborted();
        hasher.update(chunk);
        size += chunk.length;
      }
    } catch {
      this.#signal?.throwIfAborted();
      return "unreadable";
    }
    return sameBytes(hasher.digest(), digest) ? { size } : "damaged";
  }
}
