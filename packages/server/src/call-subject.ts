import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";

/** Fields that say what a call acts on, the telling ones first. */
const TELLING = ["command", "operation", "path", "from", "to", "url", "pattern", "query", "name"] as const;
const MAX_SUBJECT = 300;

/** What a call acts on, in one line for lists: its command, path or address; else its whole input, cut. */
export function callSubject(input: Uint8Array): string {
  if (input.length === 0) return "";
  const value = parseJson(Buffer.from(input).toString());
  if (!isJsonObject(value)) return cut(JSON.stringify(value));
  const told = TELLING.flatMap((name) => textsOf(value, name));
  if (told.length > 0) return cut(told.join(" "));
  return Object.keys(value).length === 0 ? "" : cut(JSON.stringify(value));
}

/** The same for an input that is not at hand, from the capabilities that the call needed. */
export function capabilitySubject(required: readonly string[]): string {
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
  // A cut never goes through a character.
  return text.length <= MAX_SUBJECT ? text : `${text.slice(0, MAX_SUBJECT).replace(/[\ud800-\udbff]$/, "")}…`;
}
