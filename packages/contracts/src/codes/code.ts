import type { CodeFacts } from "./code-facts.ts";
import { ERROR_CODES, type ErrorCode } from "./error-codes.ts";
import { HOST_CODES, type HostCode } from "./host-codes.ts";
import { RATIONALE_CODES, type RationaleCode } from "./rationale-codes.ts";
import { REGISTRATION_CODES, type RegistrationCode } from "./registration-codes.ts";

export type Code = ErrorCode | RationaleCode | RegistrationCode | HostCode;

const ALL: ReadonlyMap<string, CodeFacts> = new Map<string, CodeFacts>([
  ...ERROR_CODES,
  ...RATIONALE_CODES,
  ...REGISTRATION_CODES,
  ...HOST_CODES,
]);

/** The facts of a code; undefined for a code that a policy rule defines. */
export function findCode(code: string): CodeFacts | undefined {
  return ALL.get(code);
}

export function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as ReadonlyMap<string, CodeFacts>).has(code);
}

export function isRationaleCode(code: string): code is RationaleCode {
  return (RATIONALE_CODES as ReadonlyMap<string, CodeFacts>).has(code);
}
