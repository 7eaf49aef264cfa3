import type { CedarValue } from "./cedar-value.ts";
import type { EvaluatedRequest } from "./evaluated-request.ts";

/** Throws an `EvaluationError` where Cedar reports an error. */
export type Evaluate = (request: EvaluatedRequest) => CedarValue;

/** A compiled expression. */
export interface Expression {
  readonly evaluate: Evaluate;
  /** The value, if it is the same for every request. */
  readonly constant?: CedarValue;
}

/**
 * Expressions by context attribute. Rules that read the same attribute share its expression, which helps the CPU cache.
 */
export type SharedExpressions = Map<string, Expression>;

export function constantOf(constant: CedarValue): Expression {
  return { evaluate: () => constant, constant };
}
