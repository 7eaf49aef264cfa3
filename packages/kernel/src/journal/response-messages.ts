import type { ToolError, ToolSuccess, Violation } from "@narthex/contracts";

type Numbered<T, K extends keyof T> = Omit<T, K | "$typeName" | "$unknown" | "repeatedAnswer"> & {
  readonly [P in K]: number;
};

/** Messages are plain data: on the hot path, `create` would cost more than encoding them. */
export function successMessage(
  fields: Numbered<ToolSuccess, "budgetConsumed" | "durationMs" | "resultSize">,
): ToolSuccess {
  return {
    $typeName: "narthex.v1.ToolSuccess",
    ...fields,
    budgetConsumed: BigInt(fields.budgetConsumed),
    durationMs: BigInt(fields.durationMs),
    resultSize: BigInt(fields.resultSize),
    repeatedAnswer: false,
  };
}

export function errorMessage(
  fields: Omit<Numbered<ToolError, "retryAfterMs">, "violations"> & { readonly violations: readonly Violation[] },
): ToolError {
  return {
    $typeName: "narthex.v1.ToolError",
    ...fields,
    retryAfterMs: BigInt(fields.retryAfterMs),
    violations: fields.violations.map((violation) => ({
      $typeName: "narthex.v1.ValidationError" as const,
      field: violation.field,
      rule: violation.rule,
      message: violation.message,
    })),
    repeatedAnswer: false,
  };
}
