import type { CedarValue } from "./cedar-value.ts";
import type { EvaluatedRequest } from "./evaluated-request.ts";

/** Throws an `EvaluationError` where Cedar has an error. */
export type Evaluate = (request: EvaluatedRequest) => CedarValue;

/** A compiled expression. */
export interface Expression {
  readonly evaluate: Evaluate;
  /** Its value, if that is the same for every request. */
  readonly constant?: CedarValue;
}

/** By attribute of the context: rules that read the same one share its expression, so that it stays in the processor's cache. */
export type SharedExpressions = Map<string, Expression>;

export function constantOf(constant: CedarValue): Expression {
  return { evaluate: () => constant, constant };
}
