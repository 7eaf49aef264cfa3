import { isJsonObject, type JsonValue } from "@narthex/contracts";
import type { Tool } from "./tool.ts";

const LETTERS = /^[A-Za-z_]+$/;

/**
 * Returns the input with the schema's spelling in the case-insensitive fields: `STATUS` for `status`.
 *
 * SECURITY: runs before every check, so that a call has a single form for rules, digests, people and the tool. ASCII
 * letters only: other scripts have letters that fold to ASCII ones.
 */
export function foldCase({ anyCase, inputSchema }: Pick<Tool, "anyCase" | "inputSchema">, input: JsonValue): JsonValue {
  if (anyCase === undefined || !isJsonObject(input) || !isJsonObject(inputSchema)) return input;
  const { properties } = inputSchema;
  const changes = anyCase.flatMap((field): [string, JsonValue][] => {
    const given = Object.hasOwn(input, field) ? input[field] : undefined;
    const schema = isJsonObject(properties) ? properties[field] : undefined;
    const values = isJsonObject(schema) && Array.isArray(schema["enum"]) ? schema["enum"] : [];
    if (typeof given !== "string" || values.includes(given) || !LETTERS.test(given)) return [];
    const found = values.find((value) => typeof value === "string" && value.toUpperCase() === given.toUpperCase());
    return found === undefined ? [] : [[field, found]];
  });
  return changes.length === 0 ? input : { ...input, ...Object.fromEntries(changes) };
}
