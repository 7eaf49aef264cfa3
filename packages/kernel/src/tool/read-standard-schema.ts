import { type ErrorCode, KernelError, type Violation } from "@narthex/contracts";
import { fieldAt } from "../schema/report.ts";
import type { StandardSchema } from "./standard-schema.ts";

/** Maximum number of issues in a message, the same as for JSON Schema violations. */
const MAX_SHOWN = 10;
/** Maximum number of issues kept with an error; the caller's input determines how many there are. */
const MAX_READ = 50;
const MAX_MESSAGE = 1000;
const MAX_PATH = 32;

/**
 * The JSON Schema of a library's schema, which is declared, hashed and checked. Throws INVALID_DECLARATION if it has
 * none.
 */
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
 * Validates a value with a library's schema and returns its output, with defaults and transforms. Throws a KernelError
 * with the issues; EXECUTION_FAILED for a promise, because asynchronous schemas can only be recognized when they run.
 */
export function parseStandard(
  schema: StandardSchema,
  value: unknown,
  {
    code,
    subject,
  }: { readonly code: Extract<ErrorCode, "INVALID_INPUT" | "INVALID_OUTPUT">; readonly subject: string },
): unknown {
  const properties = schema["~standard"];
  if (properties.validate === undefined) return value;
  const result: unknown = properties.validate(value);
  const changedNothing = code === "INVALID_INPUT";
  if (isPromise(result)) {
    result.then(undefined, () => undefined);
    const message = `the schema of \`${subject}\` is validated asynchronously: check that in \`run\``;
    throw new KernelError("EXECUTION_FAILED", message, { changedNothing });
  }
  const issues = isHolder(result) ? result["issues"] : null;
  if (isHolder(result) && issues === undefined && "value" in result) return result["value"];
  // SECURITY: a result that does not conform to the standard does not count as valid.
  if (!Array.isArray(issues)) {
    const message = `the schema of \`${subject}\` answers neither a value nor a list of issues`;
    throw new KernelError("EXECUTION_FAILED", message, { changedNothing });
  }
  const violations = issues.slice(0, MAX_READ).map(toViolation);
  const shown = violations.slice(0, MAX_SHOWN).map(({ field, message }) => `${field}: ${message}`);
  const more = issues.length > shown.length ? ` and ${issues.length - shown.length} more` : "";
  throw new KernelError(code, `\`${subject}\`: ${shown.join("; ")}${more}`, { violations, changedNothing });
}

function toViolation(issue: unknown): Violation {
  const { message, path } = isHolder(issue) ? issue : {};
  const keys: readonly unknown[] = Array.isArray(path) ? path.slice(0, MAX_PATH) : [];
  const field = fieldAt(keys.map((segment) => keyOf(isHolder(segment) ? segment["key"] : segment)));
  return { field, rule: "schema", message: typeof message === "string" ? message.slice(0, MAX_MESSAGE) : "is refused" };
}

function keyOf(key: unknown): string | number {
  return typeof key === "number" ? key : String(key);
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function isPromise(result: unknown): result is Promise<unknown> {
  return isHolder(result) && "then" in result && typeof result["then"] === "function";
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
