import type { ErrorCode, JsonObject, RationaleCode, Violation } from "@narthex/contracts";
import { ERROR_CODES, isErrorCode, isKernelError } from "@narthex/contracts";
import type { CallResponse } from "../journal/call-response.ts";
import type { CallTrail } from "./call-trail.ts";

/** A call that ends before its result is kept. */
export type Ending = Denied | Failed | Repeated | Acknowledged;

/** Base class of all endings, so that one check tells them from a call that continues. */
// oxlint-disable-next-line typescript/no-extraneous-class -- all it is for is to be extended
abstract class EndOfCall {}

/** The call was not authorised. */
export class Denied extends EndOfCall {
  readonly rationaleCode: RationaleCode | string;
  readonly ruleId: string;
  readonly message: string;

  constructor(rationaleCode: RationaleCode | string, ruleId: string, message: string) {
    super();
    this.rationaleCode = rationaleCode;
    this.ruleId = ruleId;
    this.message = message;
  }
}

/** Something was wrong with the request, the tool or the machine. */
export class Failed extends EndOfCall {
  readonly code: ErrorCode;
  readonly message: string;
  readonly violations: readonly Violation[];
  readonly retryable: boolean;
  readonly retryAfterMs: number;
  readonly approvalId: string;
  /** The outcome of this call, or of the one that it repeats, is unknown: it may have had effects. */
  readonly isOutcomeLost: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    details: {
      readonly violations?: readonly Violation[];
      readonly retryAfterMs?: number;
      readonly retryable?: boolean;
      readonly approvalId?: string;
      readonly isOutcomeLost?: boolean;
    } = {},
  ) {
    super();
    this.code = code;
    // Text from tools may be cut anywhere; an unpaired surrogate has no encoding.
    this.message = message.toWellFormed();
    this.violations = details.violations ?? [];
    this.retryable = details.retryable ?? ERROR_CODES.get(code)?.retryable ?? false;
    this.retryAfterMs = wholeMs(details.retryAfterMs ?? 0);
    this.approvalId = details.approvalId ?? "";
    this.isOutcomeLost = details.isOutcomeLost ?? false;
  }

  /** Whether this call, or the one that it repeats, may have changed something. */
  mayHaveChanged({ effectsPossible }: Pick<CallTrail, "effectsPossible">): boolean {
    return effectsPossible || this.isOutcomeLost;
  }

  /**
   * Whether the same call may be made again.
   *
   * INVARIANT: a call that may have had an effect is never retryable. One stopped from outside before any effect was
   * possible is.
   */
  mayBeRetried(trail: Pick<CallTrail, "effectsPossible">): boolean {
    if (this.mayHaveChanged(trail)) return false;
    return this.retryable || this.code === "TIMEOUT" || this.code === "CANCELLED";
  }

  static pastDeadline(): Failed {
    return new Failed("TIMEOUT", "the caller's deadline passed before the call began; nothing was done");
  }

  /** Converts a fault to an error for the caller: unknown faults reveal nothing. */
  static from(fault: unknown, otherwise: ErrorCode, message: string): Failed {
    if (isKernelError(fault) && isErrorCode(fault.code)) {
      return new Failed(fault.code, fault.message, { violations: fault.violations, retryAfterMs: fault.retryAfterMs });
    }
    return new Failed(otherwise, message);
  }
}

/** Rounds the wait before a retry, for which tools may give any number, up to whole milliseconds for the record. */
function wholeMs(ms: number): number {
  return ms > 0 ? Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER) : 0;
}

/** The response of an earlier call, returned again. */
export class Repeated extends EndOfCall {
  readonly answer: CallResponse;
  readonly matchedBy: "request_id" | "dedupe_key";
  readonly firstRequestId: string;

  constructor(answer: CallResponse, matchedBy: "request_id" | "dedupe_key", firstRequestId: string) {
    super();
    this.answer = answer;
    this.matchedBy = matchedBy;
    this.firstRequestId = firstRequestId;
  }
}

/** A request that was handled without running a tool. */
export class Acknowledged extends EndOfCall {
  readonly value: JsonObject;

  constructor(value: JsonObject) {
    super();
    this.value = value;
  }
}

export function isEnding(value: unknown): value is Ending {
  return value instanceof EndOfCall;
}
