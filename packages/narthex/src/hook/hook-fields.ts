import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { HookProblem } from "./hook-call.ts";

/** Returns the first of these fields that is present. Throws if all are missing, or if a value is not a string. */
export function requireText(object: JsonObject, ...names: readonly string[]): string {
  const text = findText(object, ...names);
  if (text === undefined) throw new HookProblem(`\`${names[0]}\` is missing`);
  return text;
}

export function findText(object: JsonObject, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = object[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") throw new HookProblem(`\`${name}\` is no text`);
    return value;
  }
  return undefined;
}

export function requireObject(value: JsonValue | undefined, name: string): JsonObject {
  if (!isJsonObject(value)) throw new HookProblem(`\`${name}\` is no object`);
  return value;
}
