import { type CedarValue, EntityValue, isSet } from "./cedar-value.ts";
import { EvaluationError } from "./evaluation-error.ts";

/** Attributes that make Cedar's JSON form read an object as something other than a record. */
const ESCAPES: readonly string[] = ["__entity", "__extn", "__expr"];

export function isEscape(attribute: string): boolean {
  return ESCAPES.includes(attribute);
}

/**
 * Returns a value that may come from a request, or throws if it is not plain.
 * SECURITY: requests contain no such values. If one does, another engine could read it differently, so the rule that
 * uses it fails with an error.
 */
export function expectPlain(value: CedarValue): CedarValue {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "bigint":
      return value;
    case "number":
      if (Number.isSafeInteger(value)) return value;
      throw new EvaluationError("a number is no long that can be told exactly");
    case "object":
      if (value === null) throw new EvaluationError("null is no value");
      if (isSet(value) || value instanceof EntityValue) return value;
      for (const escape of ESCAPES) {
        if (Object.hasOwn(value, escape))
          throw new EvaluationError(`a record has the reserved attribute \`${escape}\``);
      }
      return value;
    default:
      throw new EvaluationError(`${typeof value} is no value`);
  }
}
