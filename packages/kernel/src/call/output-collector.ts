import { ContentPlace, equalBytes } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { type CollectedContent, ContentCollector } from "../result/content-collector.ts";
import { UnstoredCollector, type ReturnedContent } from "../result/unstored-collector.ts";
import { createStreamRedactor, type StreamRedactor } from "../result/redact.ts";
import type { DecidedCall } from "./call.ts";
import { redactorsForCaller, redactorsForRecord } from "./call-redactors.ts";

/** The collected output of a call. */
export interface KeptOutput {
  readonly stored: CollectedContent;
  /** The same content, unless the caller receives content that is not stored. */
  readonly returned: ReturnedContent;
}

/**
 * Collects a call's output as it arrives, and stores it without any secret. If the caller receives more than that, a
 * second copy is collected for it, in memory only.
 */
export class OutputCollector {
  readonly #call: DecidedCall;
  readonly #stored: ContentCollector;
  readonly #charge: (bytes: number) => void;
  readonly #hide: StreamRedactor;
  /** Undefined if the caller receives exactly what is stored. */
  readonly #hideInRecord: StreamRedactor | undefined;
  #given: UnstoredCollector | undefined;
  #isWithheld = false;
  #isBegun = false;

  constructor(call: DecidedCall, charge: (bytes: number) => void, kernel: KernelParts) {
    const [given, stored] = [redactorsForCaller(call, kernel), redactorsForRecord(call, kernel)];
    this.#call = call;
    this.#stored = new ContentCollector(kernel.contentStore, charge);
    this.#charge = charge;
    this.#hide = createStreamRedactor(given);
    this.#hideInRecord = given === stored ? undefined : createStreamRedactor(stored);
  }

  /** Number of bytes for the caller so far. */
  get size(): number {
    return this.#given?.size ?? this.#stored.size;
  }

  /** The caller's output so far, if it is at most 1 MB; otherwise its beginning. */
  head(): Uint8Array {
    return this.#given?.head() ?? this.#stored.head();
  }

  /** Redacts a chunk; returns what can be shown to the caller by now. The part is then passed to `store`. */
  push(chunk: Uint8Array): OutputPart {
    return { returned: this.#hide.push(chunk), stored: this.#hideInRecord?.push(chunk) };
  }

  end(): OutputPart {
    return { returned: this.#hide.end(), stored: this.#hideInRecord?.end() };
  }

  async store({ returned, stored = returned }: OutputPart): Promise<void> {
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#isWithheld = this.#call.trail.isWithheld;
      if (this.#isWithheld || this.#hideInRecord !== undefined) this.#given = new UnstoredCollector();
    }
    if (this.#isWithheld) this.#charge(returned.length);
    else if (stored.length > 0) await this.#stored.write(stored);
    this.#given?.write(returned);
  }

  async finish(): Promise<KeptOutput> {
    const { trail } = this.#call;
    const given = this.#given?.finish();
    if (given !== undefined && this.#isWithheld) {
      trail.keepUnstored(given);
      const { digest, size } = given;
      return { stored: { digest, size, place: ContentPlace.NONE, head: new Uint8Array(0) }, returned: given };
    }
    const stored = await this.#stored.finish();
    if (given === undefined || equalBytes(given.digest, stored.digest)) return { stored, returned: stored };
    trail.keepUnstored(given);
    return { stored, returned: given };
  }

  abort(): Promise<void> {
    return this.#stored.abort();
  }
}

/** A piece of output: for the caller, and for the record if that differs. */
export interface OutputPart {
  readonly returned: Uint8Array;
  readonly stored: Uint8Array | undefined;
}
