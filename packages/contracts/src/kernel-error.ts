import { type Code, findCode } from "./codes/code.ts";

/** One broken rule: the field, the rule, and how to fix it. */
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
  /** The operation failed before anything outside the kernel could have changed. */
  readonly changedNothing?: boolean;
}

/** The same symbol in every copy of this module that a process has loaded. */
const BRAND = Symbol.for("narthex.KernelError");

/** An error with a code from the closed lists. Its message is shown to callers: one line, no secret. */
export class KernelError extends Error {
  override readonly name: string = "KernelError";
  readonly code: Code;
  readonly violations: readonly Violation[];
  readonly retryable: boolean;
  /** How long to wait before a retry; 0 if not specified. */
  readonly retryAfterMs: number;
  /** Whether the code that threw the error knows that this one operation changed nothing. False if unknown. */
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

/** Recognizes errors of other copies of this module too: a tool may depend on its own copy of the package. */
export function isKernelError(value: unknown): value is KernelError {
  if (!(value instanceof Error && BRAND in value && "code" in value && "violations" in value)) return false;
  return typeof value.code === "string" && findCode(value.code) !== undefined && Array.isArray(value.violations);
}
