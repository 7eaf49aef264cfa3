import type { ErrorCode, JsonObject, RationaleCode, Violation } from "@narthex/contracts";
import { ERROR_CODES, isErrorCode, isKernelError } from "@narthex/contracts";
import type { CallResponse } from "../journal/call-response.ts";
import type { CallTrail } from "./call-trail.ts";

/** A call that ends before its result is kept. */
export type Ending = Denied | Failed | Repeated | Acknowledged;

/** What all endings are, so that one look tells them from a call that goes on. */
// oxlint-disable-next-line typescript/no-extraneous-class -- all it is for is to be extended
abstract class EndOfCall {}

/** Authority said no. */
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
  /** What became of this call, or of the one that it repeats, is not known: it may have had effects. */
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
    // Texts of tools are cut anywhere; halves of characters have no encoding.
    this.message = message.toWellFormed();
    this.violations = details.violations ?? [];
    this.retryable = details.retryable ?? ERROR_CODES.get(code)?.retryable ?? false;
    this.retryAfterMs = wholeMs(details.retryAfterMs ?? 0);
    this.approvalId = details.approvalId ?? "";
    this.isOutcomeLost = details.isOutcomeLost ?? false;
  }

  /** Whether something may have changed, by this call or by the one that it repeats. */
  mayHaveChanged({ effectsPossible }: Pick<CallTrail, "effectsPossible">): boolean {
    return effectsPossible || this.isOutcomeLost;
  }

  /**
   * INVARIANT: nothing that may have had an effect is retryable. Stopped from outside before any effect was possible, the very
   * same call may be made again.
   */
  mayBeRetried(trail: Pick<CallTrail, "effectsPossible">): boolean {
    if (this.mayHaveChanged(trail)) return false;
    return this.retryable || this.code === "TIMEOUT" || this.code === "CANCELLED";
  }

  static pastDeadline(): Failed {
    return new Failed("TIMEOUT", "the caller's deadline passed before the call began; nothing was done");
  }

  /** A fault as its caller may see it: unknown ones give away nothing. */
  static from(fault: unknown, otherwise: ErrorCode, message: string): Failed {
    if (isKernelError(fault) && isErrorCode(fault.code)) {
      return new Failed(fault.code, fault.message, { violations: fault.violations, retryAfterMs: fault.retryAfterMs });
    }
    return new Failed(otherwise, message);
  }
}

/** Tools say how long to wait in whatever number they have; what is recorded is whole. */
function wholeMs(ms: number): number {
  return ms > 0 ? Math.min(Math.ceil(ms), Number.MAX_SAFE_INTEGER) : 0;
}

/** An earlier call's answer, given again. */
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

/** A request that was settled without running a tool. */
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
