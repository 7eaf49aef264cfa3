import { type ErrorCode, KernelError, type Violation } from "@narthex/contracts";
import { fieldAt } from "../schema/report.ts";
import type { StandardIssue, StandardResult, StandardSchema } from "./standard-schema.ts";

/** As messages about more of them name no more. */
const MAX_SHOWN = 10;

/** The JSON Schema of a library's schema: what is checked, hashed and declared. Throws INVALID_DECLARATION without one. */
export function toJsonSchema(schema: StandardSchema, name: "inputSchema" | "outputSchema"): Record<string, unknown> {
  const { vendor, jsonSchema } = schema["~standard"];
  const library = typeof vendor === "string" ? vendor : "its library";
  const side = name === "inputSchema" ? "input" : "output";
  if (typeof jsonSchema?.[side] !== "function") {
    throw invalid(name, `a schema of ${library} has no JSON Schema of its own: ${howToGiveIt(library)}`);
  }
  try {
    return jsonSchema[side]({ target: "draft-2020-12" });
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault);
    throw invalid(
      name,
      `${library} cannot say this schema as JSON Schema: ${reason.slice(0, 300)}; leave that part of it to \`run\``,
    );
  }
}

/**
 * The value that a library makes of one, with its defaults and transforms. Throws a KernelError with every issue; and
 * EXECUTION_FAILED for a promise: whether a schema gives one shows only when it is used.
 */
export function parseStandard(
  schema: StandardSchema,
  value: unknown,
  {
    code,
    subject,
  }: { readonly code: Extract<ErrorCode, "INVALID_INPUT" | "INVALID_OUTPUT">; readonly subject: string },
): unknown {
  const result = schema["~standard"].validate?.(value) ?? { value };
  if (isPromise(result)) {
    result.then(undefined, () => undefined);
    throw new KernelError(
      "EXECUTION_FAILED",
      `the schema of \`${subject}\` is validated asynchronously: check that in \`run\``,
      { changedNothing: code === "INVALID_INPUT" },
    );
  }
  if (result.issues === undefined) return result.value;
  const violations = result.issues.map(toViolation);
  const shown = violations.slice(0, MAX_SHOWN).map(({ field, message }) => `${field}: ${message}`);
  const more = violations.length > shown.length ? ` and ${violations.length - shown.length} more` : "";
  const changedNothing = code === "INVALID_INPUT";
  throw new KernelError(code, `\`${subject}\`: ${shown.join("; ")}${more}`, { violations, changedNothing });
}

function toViolation({ message, path = [] }: StandardIssue): Violation {
  const keys = path.map((segment) => (typeof segment === "object" ? segment.key : segment));
  const field = fieldAt(keys.map((key) => (typeof key === "number" ? key : String(key))));
  return { field, rule: "schema", message };
}

function isPromise<T>(result: StandardResult<T> | Promise<StandardResult<T>>): result is Promise<StandardResult<T>> {
  return "then" in result && typeof result.then === "function";
}

function howToGiveIt(library: string): string {
  if (library === "valibot") return "wrap it in toStandardJsonSchema of @valibot/to-json-schema";
  if (library === "zod") return "use zod 4.2 or newer";
  if (library === "arktype") return "use arktype 2.1.28 or newer";
  return "use a version of it with `~standard.jsonSchema`, or give the JSON Schema itself";
}

function invalid(name: string, message: string): KernelError {
  const violations = [{ field: name, rule: "format", message }];
  return new KernelError("INVALID_DECLARATION", `${name}: ${message}`, { violations });
}
