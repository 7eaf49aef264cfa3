import { ContentPlace } from "@narthex/contracts";
import type { ContentStore } from "../ports.ts";
import { createSecretWatch, type SecretWatch } from "../secret/secret-watch.ts";
import type { Redactor } from "../tool/tool.ts";
import { type CollectedContent, ContentCollector } from "./content-collector.ts";
import { GivenCollector } from "./given-collector.ts";

export interface WholeContent extends CollectedContent {
  /** Content that is withheld, unless it is too much for memory. */
  readonly held: Uint8Array | undefined;
}

export interface WholeCollectorOptions {
  readonly store: ContentStore;
  /** Asked before any byte is kept; throws to refuse the chunk. */
  readonly charge: (bytes: number) => void;
  readonly redactors: readonly Redactor[];
  /** It is not stored, whatever is in it. */
  readonly isWithheld: boolean;
}

/**
 * Takes content that keeps its hash, so that no secret can be taken out of it: if there is one in it, nothing of it is
 * stored.
 */
export class WholeCollector {
  readonly #collector: ContentCollector;
  readonly #charge: (bytes: number) => void;
  readonly #watch: SecretWatch | undefined;
  readonly #given: GivenCollector | undefined;
  #isWithheld: boolean;

  constructor({ store, charge, redactors, isWithheld }: WholeCollectorOptions) {
    this.#collector = new ContentCollector(store, charge);
    this.#charge = charge;
    this.#watch = createSecretWatch(redactors);
    this.#given = isWithheld || this.#watch !== undefined ? new GivenCollector() : undefined;
    this.#isWithheld = isWithheld;
  }

  get size(): number {
    return this.#given?.size ?? this.#collector.size;
  }

  async write(chunk: Uint8Array): Promise<void> {
    const isSecret = this.#watch?.sees(chunk) === true;
    if (!this.#isWithheld && isSecret) {
      this.#isWithheld = true;
      await this.#collector.abort();
    }
    if (this.#isWithheld) this.#charge(chunk.length);
    else await this.#collector.write(chunk);
    this.#given?.write(chunk);
  }

  async finish(): Promise<WholeContent> {
    if (!this.#isWithheld || this.#given === undefined) return { ...(await this.#collector.finish()), held: undefined };
    const { digest, size, head, bytes } = this.#given.finish();
    return { digest, size, head, place: ContentPlace.NONE, held: bytes };
  }

  abort(): Promise<void> {
    return this.#collector.abort();
  }
}
