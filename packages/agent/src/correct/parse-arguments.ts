import { isJsonObject, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";

export type ParsedArguments = { readonly value: JsonValue } | { readonly problem: string };

/** How many times arguments may be encoded as JSON text. */
const MAX_ENCODINGS = 3;

/**
 * Parses the arguments of a call from the text that a model wrote. An empty text means no arguments, and a JSON string
 * that contains an object means the object: models write both.
 *
 * SECURITY: parsed strictly, so that exactly the same value is validated, shown to a person and run.
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
