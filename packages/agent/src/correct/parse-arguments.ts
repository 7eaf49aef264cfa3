import { isJsonObject, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";

export type ParsedArguments = { readonly value: JsonValue } | { readonly problem: string };

/** How often arguments may be a text that holds them. */
const MAX_ENCODINGS = 3;

/**
 * The arguments of a call from the text that a model wrote. Nothing at all stands for no arguments, and a text in quotes
 * that holds an object stands for the object: models do both.
 *
 * SECURITY: read strictly, so that what is checked, shown to a person and run is one and the same value.
 */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === "") return { value: {} };
  let value = parse(text);
  for (let level = 1; level < MAX_ENCODINGS && "value" in value; level++) {
    if (typeof value.value !== "string") break;
    const inner = parse(value.value);
    if (!("value" in inner) || (typeof inner.value !== "string" && !isJsonObject(inner.value))) break;
    value = inner;
  }
  return value;
}

function parse(text: string): ParsedArguments {
  try {
    return { value: parseJson(text) };
  } catch (fault) {
    if (!(fault instanceof JsonSyntaxError)) throw fault;
    const place = fault.path === "" ? "" : ` (at ${fault.path})`;
    return { problem: `the arguments are not valid JSON: ${fault.message}${place}` };
  }
}
