import { KernelError, type JsonObject, type JsonValue, MAX_TYPED_INPUT_BYTES, toHex } from "@narthex/contracts";
import type { ToolVariant } from "../call.ts";

type TypedVariant = Exclude<ToolVariant, { case: "call" }>;

/** Converts a typed message to the tool's JSON input: both forms of one call give the same digest. */
export function variantInput(variant: TypedVariant): JsonValue {
  switch (variant.case) {
    case "fileRead":
      return withoutDefaults({
        path: variant.value.path,
        offset: toSafeInteger(variant.value.offset, "offset"),
        limit: toSafeInteger(variant.value.limit, "limit"),
      });
    case "fileWrite":
      return {
        ...withoutDefaults({ create_only: variant.value.createOnly, append: variant.value.append }),
        // Empty content is kept: an empty file is content like any other.
        ...text(variant.value.content),
        path: variant.value.path,
      };
    case "fileEdit":
      return { path: variant.value.path, old_content: variant.value.oldContent, new_content: variant.value.newContent };
    case "shellExec":
      return withoutDefaults({
        command: variant.value.command,
        cwd: variant.value.cwd,
        timeout_ms: toSafeInteger(variant.value.timeoutMs, "timeout_ms"),
        network_access: variant.value.networkAccess,
        env: environment(variant.value.env),
      });
    case "gitOp":
      return withoutDefaults({
        operation: variant.value.operation,
        args: [...variant.value.args],
        cwd: variant.value.cwd,
      });
    case "inference":
      return {
        ...withoutDefaults({ system_prompt_hash: toHex(variant.value.systemPromptHash) }),
        provider: variant.value.provider,
        model: variant.value.model,
        prompt_hash: toHex(variant.value.promptHash),
        max_tokens: toSafeInteger(variant.value.maxTokens, "max_tokens"),
        temperature_scaled: variant.value.temperatureScaled,
      };
    case "artifactPublish":
      return withoutDefaults({
        artifact_id: variant.value.artifactId,
        content_hash: toHex(variant.value.contentHash),
        category: variant.value.category,
        metadata: [...variant.value.metadata],
      });
  }
}

/** Omits fields that have the wire's default value, as a JSON caller would. */
function withoutDefaults(fields: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0)) continue;
    if (typeof value === "object" && value !== null && Object.keys(value).length === 0) continue;
    kept[key] = value;
  }
  return kept;
}

function toSafeInteger(value: bigint, field: string): number {
  const number = Number(value);
  if (BigInt(number) === value) return number;
  throw refusal(field, "range", `\`${value}\` does not survive a double`);
}

const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function text(content: Uint8Array): JsonObject {
  try {
    const decoded = strictText.decode(content);
    if (fitsAsText(content)) return { content: decoded };
  } catch {
    // Not UTF-8.
  }
  return { content: Buffer.from(content).toString("base64"), encoding: "base64" };
}

/** Leaves room for the path and the field names. */
const MAX_TEXT_BYTES = MAX_TYPED_INPUT_BYTES - 64 * 1024;
/** JSON writes a control character as `\u0000`. */
const MAX_ESCAPE_BYTES = 6;
const FIRST_PRINTABLE = 0x20;

/**
 * Whether content fits into the input as text; false for a large text of control characters, which JSON would expand
 * beyond the limit.
 */
function fitsAsText(content: Uint8Array): boolean {
  if (content.length * MAX_ESCAPE_BYTES <= MAX_TEXT_BYTES) return true;
  let controls = 0;
  for (const byte of content) if (byte < FIRST_PRINTABLE) controls++;
  // Quotes and backslashes take two bytes.
  return content.length * 2 + controls * (MAX_ESCAPE_BYTES - 2) <= MAX_TEXT_BYTES;
}

/**
 * Parses environment entries.
 *
 * SECURITY: duplicate names are rejected: one reader would see the first value and another the last.
 */
function environment(entries: readonly string[]): JsonObject {
  const names = new Map<string, string>();
  for (const [index, entry] of entries.entries()) {
    // INVARIANT: validated entries contain exactly one `=`.
    const [name = "", value = ""] = entry.split("=", 2);
    if (names.has(name)) throw refusal(`env[${index}]`, "duplicate", `\`${name.slice(0, 80)}\` is given twice`);
    names.set(name, value);
  }
  return Object.fromEntries(names);
}

function refusal(field: string, rule: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", message, { violations: [{ field, rule, message }] });
}
