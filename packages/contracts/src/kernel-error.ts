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
}

/** A fault with a code from the closed lists. Its message is shown to callers: one line, no secret. */
export class KernelError extends Error {
  override readonly name: string = "KernelError";
  readonly code: Code;
  readonly violations: readonly Violation[];
  readonly retryable: boolean;
  /** 0, or how long to wait before trying again. */
  readonly retryAfterMs: number;

  constructor(code: Code, message: string, options: KernelErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.violations = options.violations ?? [];
    this.retryable = findCode(code)?.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

export function isKernelError(value: unknown): value is KernelError {
  return value instanceof KernelError;
}
