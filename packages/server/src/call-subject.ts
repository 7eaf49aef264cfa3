import {
  ContentRole,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type RecordContent,
  type RecordMessage,
} from "@narthex/contracts";

/** Fields that say what a call acts on, most significant first. */
const SUBJECT_FIELDS = ["command", "operation", "path", "from", "to", "url", "pattern", "query", "name"] as const;
const MAX_SUBJECT = 300;

/** Describes what the call of a record acts on; empty for a record that holds no input and names no capabilities. */
export function recordSubject(record: RecordMessage, content: RecordContent | undefined): string {
  const input = content?.items.find(({ role }) => role === ContentRole.INPUT);
  const told = input === undefined ? "" : callSubject(input.data);
  if (told !== "") return told;
  for (const { kind } of record.entries) {
    const needed = kind.case === "capabilityCheck" ? capabilitySubject(kind.value.required) : "";
    if (needed !== "") return needed;
  }
  return "";
}

/**
 * Describes what a call acts on, in one line for lists: its command, path or address; else its whole input, truncated.
 */
function callSubject(input: Uint8Array): string {
  if (input.length === 0) return "";
  const value = parseJson(Buffer.from(input).toString());
  if (!isJsonObject(value)) return cut(JSON.stringify(value));
  const told = SUBJECT_FIELDS.flatMap((name) => textsOf(value, name));
  if (told.length > 0) return cut(told.join(" "));
  return Object.keys(value).length === 0 ? "" : cut(JSON.stringify(value));
}

/** Derives the same from the capabilities that the call needed, if the input is not available. */
function capabilitySubject(required: readonly string[]): string {
  const needed = required.map((text) => parseJson(text)).filter(isJsonObject);
  const [first] = needed.flatMap(({ prefixes, hosts }) => [...listOf(prefixes), ...listOf(hosts)]);
  const named = isJsonObject(first) ? first["host"] : first;
  return typeof named === "string" ? cut(named) : "";
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(object: JsonObject, name: string): string[] {
  const value: JsonValue | undefined = object[name];
  return typeof value === "string" && value !== "" ? [value] : [];
}

function cut(text: string): string {
  // Never cuts a surrogate pair in two.
  return text.length <= MAX_SUBJECT ? text : `${text.slice(0, MAX_SUBJECT).replace(/[\ud800-\udbff]$/, "")}…`;
}
