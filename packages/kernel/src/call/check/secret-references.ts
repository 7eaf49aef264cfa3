import { isJsonObject, type JsonObject, type JsonValue, type Violation } from "@narthex/contracts";

const KEY = "$secret";
const MAX_SHOWN = 80;
const NONE: readonly Violation[] = [];

/**
 * Finds invalid references to secrets in an input: secrets appear there only as `{"$secret": "name"}`. The key is
 * reserved: a tool that takes no secrets never sees such an object as plain data, and `known` is undefined for it.
 */
export function findSecretReferences(input: JsonValue, known?: ReadonlySet<string>): readonly Violation[] {
  // Almost no input has a reference; paths are built only for one that does.
  if (!hasReference(input)) return NONE;
  const found: Violation[] = [];
  walk(input, "", known, found);
  return found;
}

function hasReference(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasReference);
  for (const key of Object.keys(value)) if (key === KEY || hasReference(value[key] ?? null)) return true;
  return false;
}

function walk(value: JsonValue, path: string, known: ReadonlySet<string> | undefined, found: Violation[]): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) walk(value[i] ?? null, `${path || "$"}[${i}]`, known, found);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (key !== KEY) walk(value[key] ?? null, `${path}${path && "."}${key.slice(0, MAX_SHOWN)}`, known, found);
    else if (!isKnown(value, known)) found.push(refuse(value[KEY], path, Object.keys(value).length));
  }
}

function isKnown(reference: JsonObject, known: ReadonlySet<string> | undefined): boolean {
  const name = reference[KEY];
  return Object.keys(reference).length === 1 && typeof name === "string" && known?.has(name) === true;
}

function refuse(name: JsonValue | undefined, path: string, keys: number): Violation {
  const message =
    keys > 1 || typeof name !== "string"
      ? `\`${KEY}\` is reserved: a secret is named by an object with that one key and a text value`
      : `there is no secret \`${name.slice(0, MAX_SHOWN)}\``;
  return { field: path || "$", rule: "format", message };
}
