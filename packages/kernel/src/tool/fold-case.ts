import { isJsonObject, type JsonValue } from "@narthex/contracts";
import type { Tool } from "./tool.ts";

const LETTERS = /^[A-Za-z_]+$/;

/**
 * The input with the schema's spelling in the fields that take any case: `STATUS` for `status`.
 *
 * SECURITY: it comes before every check, so that one call has one form: rules, digests, people and the tool see this one.
 * ASCII letters only: other scripts have letters that fold to these.
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
