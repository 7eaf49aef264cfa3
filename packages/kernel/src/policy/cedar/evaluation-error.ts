import { type CedarValue, typeNameOf } from "./cedar-value.ts";

/**
 * An evaluation error as defined by Cedar: the rule has no result for this request. The message contains no value of
 * the request.
 */
export class EvaluationError extends Error {
  override readonly name = "EvaluationError";
}

export function typeError(expected: string, found: CedarValue): EvaluationError {
  return new EvaluationError(`type error: expected ${expected}, got ${typeNameOf(found)}`);
}
