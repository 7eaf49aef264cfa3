import { canonicalJson, isJsonObject, type JsonValue, utf8, type Violation } from "@narthex/contracts";
import type { RegisteredTool } from "../registry/registry.ts";
import { holdsSecret } from "../secret/secret-search.ts";
import type { Redactor, ToolOutput } from "../tool/tool.ts";
import { copyBytes } from "./copy-bytes.ts";
import { describeFault } from "./describe-fault.ts";
import { redactBytes, redactJsonAndNumbers, redactText } from "./redact.ts";

export interface NormalisedOutput {
  /** The tool's output after redaction. */
  readonly raw: ToolOutput;
  readonly bytes: Uint8Array;
}

/**
 * Checks output against its declared type and schema, redacts it, and converts it to the canonical form that is hashed.
 */
export function normaliseOutput(
  registered: RegisteredTool,
  output: ToolOutput,
  redactors: readonly Redactor[] = registered.tool.redactors ?? [],
): NormalisedOutput | readonly Violation[] {
  try {
    return normalise(registered, output, redactors);
  } catch (fault) {
    // The output is not valid JSON, or the tool's own `normaliseCustom` failed.
    const message = describeFault(fault, redactors).slice(0, MAX_FAULT_TEXT);
    return [{ field: "$", rule: "malformed", message }];
  }
}

export function isViolations(normalised: NormalisedOutput | readonly Violation[]): normalised is readonly Violation[] {
  return Array.isArray(normalised);
}

const MAX_FAULT_TEXT = 500;

function normalise(
  registered: RegisteredTool,
  output: ToolOutput,
  redactors: readonly Redactor[],
): NormalisedOutput | readonly Violation[] {
  const { tool } = registered;
  switch (tool.resultType) {
    case "json":
    case "object":
    case "array":
      return normaliseJson(registered, output, redactors);
    case "string": {
      if (typeof output !== "string") return wrongType("a text", output);
      if (!output.isWellFormed()) return [{ field: "$", rule: "format", message: "the text holds a lone surrogate" }];
      const raw = redactText(output, redactors);
      return checked(registered, raw, () => custom(registered, raw) ?? utf8(raw));
    }
    case "binary": {
      if (!(output instanceof Uint8Array)) return wrongType("bytes", output);
      // A copy: a tool that keeps the array cannot change bytes that were hashed.
      const raw = copyBytes(redactBytes(output, redactors));
      return { raw, bytes: custom(registered, raw) ?? raw };
    }
    case "stream":
      return wrongType("a stream", output);
    default:
      return assertNever(tool.resultType);
  }
}

function assertNever(value: never): never {
  throw new TypeError(`no such result type: ${String(value)}`);
}

function normaliseJson(
  registered: RegisteredTool,
  output: ToolOutput,
  redactors: readonly Redactor[],
): NormalisedOutput | readonly Violation[] {
  const { tool } = registered;
  if (output instanceof Uint8Array) return wrongType(tool.resultType, output);
  const value = output as JsonValue;
  if (tool.resultType === "object" && !isJsonObject(value)) return wrongType("an object", output);
  if (tool.resultType === "array" && !Array.isArray(value)) return wrongType("an array", output);
  // Validates the whole value first, before any other code reads it.
  const text = canonicalJson(value);
  const canonical = utf8(text);
  if (!holdsSecret(canonical, redactors))
    return checked(registered, value, () => custom(registered, value) ?? canonical);
  const raw = redactJsonAndNumbers(value, redactors);
  return checked(registered, raw, () => custom(registered, raw) ?? utf8(canonicalJson(raw)));
}

function checked(
  registered: RegisteredTool,
  raw: JsonValue,
  bytes: () => Uint8Array,
): NormalisedOutput | readonly Violation[] {
  const violations = registered.outputSchema?.check(raw) ?? [];
  return violations.length > 0 ? violations : { raw, bytes: bytes() };
}

function custom({ tool }: RegisteredTool, raw: ToolOutput): Uint8Array | undefined {
  if (tool.normalise !== "custom") return undefined;
  const bytes = tool.normaliseCustom?.(raw);
  if (!(bytes instanceof Uint8Array)) throw new TypeError("its own normalising rule gave something that is not bytes");
  // A copy: a tool that keeps the array cannot change bytes that were hashed.
  return copyBytes(bytes);
}

function wrongType(expected: string, output: ToolOutput): readonly Violation[] {
  const found =
    output === null
      ? "null"
      : Array.isArray(output)
        ? "an array"
        : output instanceof Uint8Array
          ? "bytes"
          : typeof output;
  return [{ field: "$", rule: "type", message: `the tool declared ${expected} and returned ${found}` }];
}
