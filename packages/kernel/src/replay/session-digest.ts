import { type ContentItem, ContentRole, digestCall, digestSession, type SessionCallIdentity } from "@narthex/contracts";
import type { RecordedCall } from "./recorded-call.ts";

interface Placed {
  /** The call's number; for a call that was refused before it got one, the highest number before it plus one half. */
  readonly place: number;
  /** Whether no other call of the session was running when it began. */
  readonly isFirst: boolean;
  readonly digest: Uint8Array;
}

/**
 * Computes the content digest of a session from its calls. SPEC: docs/formats/digests.md, "Session".
 *
 * Calls are added in the order in which they ended. Calls that ran at the same time form one set. A call that began
 * while no other ran starts the next set, and by then all earlier calls have ended. So a set is kept only until the
 * next one starts.
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

  /** Undefined if content that the digest is computed from was erased. */
  finish(): Uint8Array | undefined {
    this.#close(Number.POSITIVE_INFINITY);
    return this.#isWhole ? this.#session.finish() : undefined;
  }

  /** Adds the sets of all calls before this number, which have ended. */
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

/** Undefined if the call's input or result was erased. */
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

/** Empty if there was no such content; undefined if it was erased. */
function digestOf(call: RecordedCall, role: ContentRole, commitment: Uint8Array): Uint8Array | undefined {
  if (commitment.length === 0) return NO_BYTES;
  const item: ContentItem | undefined = call.open(role, commitment);
  return item?.digest;
}
