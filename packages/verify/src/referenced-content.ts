import { blake3, ContentPlace } from "@narthex/contracts";
import type { ContentFiles } from "./content-files.ts";
import { digestKey } from "./digest-key.ts";
import { sameBytes } from "./ledger-hash.ts";
import { type DecodedItem, decodeContent } from "./ledger-messages.ts";
import type { LedgerSource } from "./ledger-source.ts";
import type { ProblemList } from "./problem-list.ts";
import { Malformed } from "./wire/decode-canonical.ts";

interface Reference {
  readonly digest: Uint8Array;
  readonly size: number;
  readonly index: number;
  readonly chain: string;
}

/** Above this number, the ledger is searched before it is read further. */
const MAX_REFERENCES = 100_000;

/** Content that a record says is stored with another one. A second pass over the ledger checks that. */
export class ReferencedContent {
  readonly #source: LedgerSource;
  readonly #files: ContentFiles;
  readonly #problems: ProblemList;
  readonly #signal: AbortSignal | undefined;
  readonly #wanted = new Map<string, Reference>();

  constructor(source: LedgerSource, files: ContentFiles, problems: ProblemList, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#files = files;
    this.#problems = problems;
    this.#signal = signal;
  }

  get isFull(): boolean {
    return this.#wanted.size >= MAX_REFERENCES;
  }

  add(item: DecodedItem, place: { readonly index: number; readonly chain: string }): void {
    const key = digestKey(item.digest.view());
    const known = this.#wanted.get(key);
    if (known === undefined) {
      this.#wanted.set(key, {
        digest: item.digest.view().slice(),
        size: item.size,
        index: place.index,
        chain: place.chain,
      });
    } else if (known.size !== item.size) {
      this.#problems.add("content_contradicts", place, "two references to the same content state different sizes");
    }
  }

  async resolve(): Promise<void> {
    for (const [key, wanted] of this.#wanted) {
      const file = await this.#files.find(wanted.digest);
      if (typeof file === "object") this.#found(key, wanted, file.size);
    }
    if (this.#wanted.size > 0) await this.#searchRows();
    for (const wanted of this.#wanted.values()) {
      this.#problems.add("content_missing", wanted, "content that should lie with another record lies nowhere");
    }
    this.#wanted.clear();
  }

  async #searchRows(): Promise<void> {
    try {
      for await (const row of this.#source.records()) {
        this.#signal?.throwIfAborted();
        const content = decodeContent(row.content);
        if (!(content instanceof Malformed)) for (const item of content.items) this.#look(item);
        if (this.#wanted.size === 0) return;
      }
    } catch {
      // The first pass already reported a failing source; content that was not found counts as missing.
      this.#signal?.throwIfAborted();
    }
  }

  #look(item: DecodedItem): void {
    if (item.place !== ContentPlace.ROW) return;
    const key = digestKey(item.digest.view());
    const wanted = this.#wanted.get(key);
    if (wanted !== undefined && sameBytes(blake3(item.data.view()), wanted.digest))
      this.#found(key, wanted, item.data.length);
  }

  #found(key: string, wanted: Reference, size: number): void {
    this.#wanted.delete(key);
    if (size === wanted.size) return;
    this.#problems.add("content_contradicts", wanted, `content that has ${size} bytes is said to have ${wanted.size}`);
  }
}
