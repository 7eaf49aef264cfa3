import { type CedarValue, typeNameOf } from "./cedar-value.ts";

/** Cedar's own kind of error: the rule has no answer for this request. Its message holds no value of the request. */
export class EvaluationError extends Error {
  override readonly name = "EvaluationError";
}

export function typeError(expected: string, found: CedarValue): EvaluationError {
  return new EvaluationError(`type error: expected ${expected}, got ${typeNameOf(found)}`);
}
