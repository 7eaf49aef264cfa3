import { type Code, findCode } from "./codes/code.ts";

/** One broken rule: which field, which rule, and what to do about it. */
export interface Violation {
  readonly field: string;
  readonly rule: string;
  readonly message: string;
}

export interface KernelErrorOptions {
  /** Logged, never sent. */
  readonly cause?: unknown;
  readonly violations?: readonly Violation[];
  readonly retryAfterMs?: number;
  /** What was asked for failed before anything outside the kernel could have changed. */
  readonly changedNothing?: boolean;
}

/** The same in every copy of this module that a process has loaded. */
const BRAND = Symbol.for("narthex.KernelError");

/** A fault with a code from the closed lists. Its message is shown to callers: one line, no secret. */
export class KernelError extends Error {
  override readonly name: string = "KernelError";
  readonly code: Code;
  readonly violations: readonly Violation[];
  readonly retryable: boolean;
  /** 0, or how long to wait before trying again. */
  readonly retryAfterMs: number;
  /** Known by the code that threw it, for the one operation that failed. False if it is not known. */
  readonly changedNothing: boolean;

  constructor(code: Code, message: string, options: KernelErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.violations = options.violations ?? [];
    this.retryable = findCode(code)?.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs ?? 0;
    this.changedNothing = options.changedNothing ?? false;
  }

  get [BRAND](): true {
    return true;
  }
}

/** Also one of another copy of this module: a tool may have been made with a package of its own. */
export function isKernelError(value: unknown): value is KernelError {
  if (!(value instanceof Error && BRAND in value && "code" in value && "violations" in value)) return false;
  return typeof value.code === "string" && findCode(value.code) !== undefined && Array.isArray(value.violations);
}
