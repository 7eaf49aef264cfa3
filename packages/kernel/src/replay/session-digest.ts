import { type ContentItem, ContentRole, digestCall, digestSession, type SessionCallIdentity } from "@narthex/contracts";
import type { RecordedCall } from "./recorded-call.ts";

interface Placed {
  /** The call's number; of one that was refused before it had one, that of the last before it and a half. */
  readonly place: number;
  /** Whether nothing else of the session ran when it began. */
  readonly isFirst: boolean;
  readonly digest: Uint8Array;
}

/**
 * Gathers the calls of a session into its content digest. SPEC: docs/formats/digests.md, "Session".
 *
 * Calls come in the order in which they ended. Those that ran at once are one set; a call that began when no other ran
 * begins the next, and by then all before it have ended. So a set is kept only until the one after it begins.
 */
export class SessionDigest {
  readonly #session = digestSession();
  #waiting: Placed[] = [];
  #lastNumber = 0;
  #isWhole = true;

  add(call: RecordedCall): void {
    const identity = identityOf(call);
    if (identity === undefined) {
      this.#isWhole = false;
      return;
    }
    const number = Number(call.started?.callNumber ?? 0n);
    const isFirst = number === 0 || (call.started?.runningBeside ?? 0n) === 0n;
    if (number > 0 && isFirst) this.#close(number);
    this.#lastNumber = Math.max(this.#lastNumber, number);
    const place = number > 0 ? number : this.#lastNumber + 0.5;
    this.#waiting.push({ place, isFirst, digest: digestCall(identity) });
  }

  /** Undefined if something that it is made of was erased. */
  finish(): Uint8Array | undefined {
    this.#close(Number.POSITIVE_INFINITY);
    return this.#isWhole ? this.#session.finish() : undefined;
  }

  /** Everything before this number has ended. */
  #close(number: number): void {
    const ended = this.#waiting.filter(({ place }) => place < number).sort((one, other) => one.place - other.place);
    if (ended.length === 0) return;
    this.#waiting = this.#waiting.filter(({ place }) => place >= number);
    let set: Uint8Array[] = [];
    for (const { isFirst, digest } of ended) {
      if (isFirst && set.length > 0) {
        this.#session.add(set);
        set = [];
      }
      set.push(digest);
    }
    this.#session.add(set);
  }
}

/** Undefined where its input or result was erased. */
function identityOf(call: RecordedCall): SessionCallIdentity | undefined {
  const { invoked, outcome } = call;
  const input = digestOf(call, ContentRole.INPUT, invoked.inputCommitment);
  const result = digestOf(call, ContentRole.RESULT, outcome?.value.resultCommitment ?? NO_BYTES);
  if (input === undefined || result === undefined) return undefined;
  return {
    toolName: invoked.toolName,
    toolVersion: invoked.toolVersion,
    definitionHash: invoked.definitionHash,
    inputDigest: input,
    decision: outcome?.kind === "denied" ? `deny ${outcome.value.code}` : "allow",
    errorCode: outcome?.kind === "denied" ? "" : (outcome?.value.code ?? ""),
    resultHash: result,
  };
}

const NO_BYTES = new Uint8Array(0);

/** Empty where there never was one. */
function digestOf(call: RecordedCall, role: ContentRole, commitment: Uint8Array): Uint8Array | undefined {
  if (commitment.length === 0) return NO_BYTES;
  const item: ContentItem | undefined = call.open(role, commitment);
  return item?.digest;
}
