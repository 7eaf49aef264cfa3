import { ContentPlace } from "@narthex/contracts";
import type { ContentStore } from "../ports.ts";
import { createSecretDetector, type SecretDetector } from "../secret/secret-detector.ts";
import type { Redactor } from "../tool/tool.ts";
import { type CollectedContent, ContentCollector } from "./content-collector.ts";
import { UnstoredCollector } from "./unstored-collector.ts";

export interface HashPreservedContent extends CollectedContent {
  /** The withheld content, unless it is too large for memory. */
  readonly held: Uint8Array | undefined;
}

export interface HashPreservingCollectorOptions {
  readonly store: ContentStore;
  /** Called before a chunk is kept; throws to refuse the chunk. */
  readonly charge: (bytes: number) => void;
  readonly redactors: readonly Redactor[];
  /** Never store the content, whether or not it contains a secret. */
  readonly isWithheld: boolean;
}

/**
 * Collects content whose hash must not change, so secrets in it cannot be redacted: if it contains one, none of it is
 * stored.
 */
export class HashPreservingCollector {
  readonly #collector: ContentCollector;
  readonly #charge: (bytes: number) => void;
  readonly #watch: SecretDetector | undefined;
  readonly #given: UnstoredCollector | undefined;
  #isWithheld: boolean;

  constructor({ store, charge, redactors, isWithheld }: HashPreservingCollectorOptions) {
    this.#collector = new ContentCollector(store, charge);
    this.#charge = charge;
    this.#watch = createSecretDetector(redactors);
    this.#given = isWithheld || this.#watch !== undefined ? new UnstoredCollector() : undefined;
    this.#isWithheld = isWithheld;
  }

  get size(): number {
    return this.#given?.size ?? this.#collector.size;
  }

  async write(chunk: Uint8Array): Promise<void> {
    const isSecret = this.#watch?.detects(chunk) === true;
    if (!this.#isWithheld && isSecret) {
      this.#isWithheld = true;
      await this.#collector.abort();
    }
    if (this.#isWithheld) this.#charge(chunk.length);
    else await this.#collector.write(chunk);
    this.#given?.write(chunk);
  }

  async finish(): Promise<HashPreservedContent> {
    if (!this.#isWithheld || this.#given === undefined) return { ...(await this.#collector.finish()), held: undefined };
    const { digest, size, head, bytes } = this.#given.finish();
    return { digest, size, head, place: ContentPlace.NONE, held: bytes };
  }

  abort(): Promise<void> {
    return this.#collector.abort();
  }
}
