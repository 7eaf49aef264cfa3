import { isJsonObject, type JsonValue, type Violation } from "@narthex/contracts";

const KEY = "$secret";

/**
 * Secrets appear in inputs only as `{"$secret": "name"}`. No secret can be named yet, so every reference is refused:
 * the key is reserved, and no tool ever sees such an object as plain data.
 */
export function findSecretReferences(input: JsonValue): readonly Violation[] {
  const found: Violation[] = [];
  walk(input, "$", found);
  return found;
}

function walk(value: JsonValue, path: string, found: Violation[]): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) walk(value[i] ?? null, `${path}[${i}]`, found);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (key === KEY) found.push(refuse(value[KEY], path, Object.keys(value).length));
    else walk(value[key] ?? null, `${path}.${key}`, found);
  }
}

function refuse(name: JsonValue | undefined, path: string, keys: number): Violation {
  const message =
    keys > 1 || typeof name !== "string"
      ? `\`${KEY}\` is reserved: a secret is named by an object with that one key and a text value`
      : `there is no secret \`${name.slice(0, 80)}\``;
  return { field: path, rule: "format", message };
}
