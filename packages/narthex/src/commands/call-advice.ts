import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type ToolInfo,
  type ToolResponse,
} from "@narthex/contracts";
import { quoteShellWords } from "../connect/program-line.ts";
import type { CallConnection } from "../connection/kernel-connection.ts";
import { readJsonText } from "./json-text.ts";

/** A call as the user typed it. */
export interface TypedCall {
  readonly tool: string;
  /** The input as given in the argument; undefined if it came from a file or standard input. */
  readonly argument: string | undefined;
  readonly input: Uint8Array;
  readonly token: string;
  /** The kernel's home. */
  readonly home: string;
}

/** Returns advice for a call whose tool or input was mistyped, with the tool's own schema where it is known. */
export async function adviseCall(
  { result }: ToolResponse,
  typed: TypedCall,
  kernel: CallConnection,
): Promise<string | undefined> {
  const code = result.case === "error" ? result.value.errorCode : "";
  if (code !== "TOOL_NOT_FOUND" && code !== "INVALID_INPUT") return undefined;
  const tools = await kernel.listTools({ token: typed.token, allVersions: false }).catch(() => []);
  if (code === "TOOL_NOT_FOUND") {
    return (await isStored(typed))
      ? `\`${typed.tool}\` was added after this kernel started: start it again, then open a new session`
      : await adviseName(typed.tool, tools);
  }
  return adviseInput(
    typed,
    tools.find(({ name }) => name === typed.tool),
  );
}

/** Whether the tool was added to the home: a running kernel only has the tools that were there when it started. */
async function isStored({ home, tool }: TypedCall): Promise<boolean> {
  const { homePaths, listStoredTools } = await import("@narthex/host");
  const stored = await listStoredTools(homePaths(home).tools).catch(() => undefined);
  return stored?.tools.some(({ declaration }) => declaration.name === tool) === true;
}

/** Returns the name of the tool that the user probably meant. */
export async function adviseName(name: string, tools: readonly Pick<ToolInfo, "name">[]): Promise<string> {
  const { nearestName } = await import("@narthex/kernel");
  const near = nearestName(
    name,
    tools.map((tool) => tool.name),
  );
  const all = "`narthex tools list` shows the tools there are";
  return near === undefined ? all : `did you mean \`${near}\`? ${all}`;
}

function adviseInput({ tool, argument, input }: TypedCall, info: ToolInfo | undefined): string {
  const schema = info === undefined ? undefined : readJsonText(info.inputSchema);
  const isJson = isObject(input);
  // An argument that is already JSON has the wrong fields, not missing quotes.
  const example = isJsonObject(schema) ? createExample(schema, isJson ? undefined : argument) : undefined;
  const shown =
    example === undefined ? "" : `, such as \`narthex call ${tool} ${quoteShellWords([JSON.stringify(example)])}\``;
  if (!isJson) return `write the input as one JSON object in single quotes${shown}`;
  return `correct the fields named above${shown}; \`narthex tools show ${tool}\` prints the schema`;
}

function isObject(input: Uint8Array): boolean {
  try {
    return isJsonObject(parseJson(input));
  } catch {
    return false;
  }
}

/**
 * Builds an input that fits the schema: from the argument if it can be read, else with a value for each required field.
 */
function createExample(schema: JsonObject, argument: string | undefined): JsonObject | undefined {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string")
    : [];
  const meant = argument === undefined ? undefined : restoreQuotes(argument);
  if (meant !== undefined && Object.keys(meant).every((name) => Object.hasOwn(properties, name))) return meant;
  const [only, ...more] = required;
  if (only !== undefined && more.length === 0 && isText(properties[only]) && isPlain(argument)) {
    return { [only]: stripQuotes(argument) };
  }
  if (required.length === 0) return undefined;
  return Object.fromEntries(required.map((name) => [name, sampleValue(properties[name], name)]));
}

/** Longer arguments are not repeated in an example. */
const MAX_ARGUMENT = 200;

function isPlain(argument: string | undefined): argument is string {
  return argument !== undefined && argument.length <= MAX_ARGUMENT && !/^\s*[{[@]/.test(argument);
}

function stripQuotes(text: string): string {
  const value = readJsonText(text);
  return typeof value === "string" ? value : text;
}

/** Restores the quotes of `{path:notes.txt}`, which is what a shell leaves when the user forgot to quote the JSON. */
function restoreQuotes(text: string): JsonObject | undefined {
  if (text.length > MAX_ARGUMENT || !text.startsWith("{")) return undefined;
  const named = text.replaceAll(/([{,]\s*)([A-Za-z_]\w*)\s*:/g, '$1"$2":');
  const valued = named.replaceAll(/:\s*([^\s"'{[\],}][^"'{[\],}]*)(?=[,}])/g, (all, value: string) =>
    /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(value) ? all : `:${JSON.stringify(value)}`,
  );
  for (const attempt of [named, valued, text.replaceAll("'", '"')]) {
    const value = tryParse(attempt);
    if (isJsonObject(value)) return value;
  }
  return undefined;
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isText(property: JsonValue | undefined): boolean {
  return isJsonObject(property) && property["type"] === "string" && property["enum"] === undefined;
}

function sampleValue(property: JsonValue | undefined, name: string): JsonValue {
  if (!isJsonObject(property)) return name.toUpperCase();
  const [first] = Array.isArray(property["enum"]) ? property["enum"] : [];
  if (first !== undefined) return first;
  switch (property["type"]) {
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return name.toUpperCase();
  }
}
