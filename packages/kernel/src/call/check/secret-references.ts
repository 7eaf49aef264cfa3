import { isJsonObject, type JsonValue, type Violation } from "@narthex/contracts";

const KEY = "$secret";
const MAX_SHOWN = 80;
const NONE: readonly Violation[] = [];

/**
 * Secrets appear in inputs only as `{"$secret": "name"}`. No secret can be named yet, so every reference is refused:
 * the key is reserved, and no tool ever sees such an object as plain data.
 */
export function findSecretReferences(input: JsonValue): readonly Violation[] {
  // Nearly no input has one: paths are spelled out only for one that does.
  if (!hasReference(input)) return NONE;
  const found: Violation[] = [];
  walk(input, "", found);
  return found;
}

function hasReference(value: JsonValue): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasReference);
  for (const key of Object.keys(value)) if (key === KEY || hasReference(value[key] ?? null)) return true;
  return false;
}

function walk(value: JsonValue, path: string, found: Violation[]): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) walk(value[i] ?? null, `${path || "$"}[${i}]`, found);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (key === KEY) found.push(refuse(value[KEY], path, Object.keys(value).length));
    else walk(value[key] ?? null, `${path}${path && "."}${key.slice(0, MAX_SHOWN)}`, found);
  }
}

function refuse(name: JsonValue | undefined, path: string, keys: number): Violation {
  const message =
    keys > 1 || typeof name !== "string"
      ? `\`${KEY}\` is reserved: a secret is named by an object with that one key and a text value`
      : `there is no secret \`${name.slice(0, MAX_SHOWN)}\``;
  return { field: path || "$", rule: "format", message };
}
