import { type JsonObject, type JsonValue, KernelError, parseJson } from "@narthex/contracts";
import { createJsonReader, type JsonReader, ownField } from "@narthex/kernel";
import { isSecretName } from "../secrets/secret-source.ts";
import type { AddedTool, ToolPin } from "./added-tool.ts";
import { endpointToJson, readEndpointPin } from "./endpoint-pin.ts";
import { pinToJson, type ProgramPin } from "./program-pin.ts";
import { DECLARATION_KEYS, readDeclaration } from "./read-declaration.ts";
import { readPinnedFileJson } from "./read-pinned-file.ts";
import { ENDPOINT_KIND, PROGRAM_KIND, type ToolKind, WASM_KIND } from "./tool-kind.ts";
import { type CommandWord, PROGRAM_LIMITS } from "./tool-manifest.ts";
import { readWasmPin, wasmToJson } from "./wasm-pin.ts";

const FORMAT = 1;

/** Encodes an added tool as it is stored in the home. */
export function encodeToolRecord({ source, pin }: AddedTool): string {
  return `${JSON.stringify({ format: FORMAT, declaration: source, ...pinJson(pin) }, undefined, 2)}\n`;
}

/** Each kind of tool has its own key. */
const PIN_KEYS = ["program", "endpoint", "wasm"] as const;

function pinJson(pin: ToolPin): JsonObject {
  if (pin.kind === "http") return { endpoint: endpointToJson(pin) };
  return pin.kind === "wasm" ? { wasm: wasmToJson(pin) } : { program: pinToJson(pin) };
}

/**
 * Parses the record of an added tool. Throws INVALID_DECLARATION for anything else than exactly this format, although
 * only the kernel writes to the home.
 */
export function decodeToolRecord(bytes: Uint8Array, file: string): AddedTool {
  const reader = createJsonReader();
  const what = `the tool's record \`${file.slice(0, 300)}\``;
  const object = reader.object(readText(bytes, what), "", ["format", "declaration", ...PIN_KEYS]);
  if (object !== undefined && object["format"] !== FORMAT) reader.refuse("format", "one_of", `must be ${FORMAT}`);
  const source =
    object && reader.object(ownField(object, "declaration"), "declaration", [...DECLARATION_KEYS, "preset"]);
  const pin = object && readPin(reader, object);
  const declaration = source && pin && readDeclaration(reader, source, "declaration", kindOf(pin));
  const tool = declaration && source && pin && { declaration, source, pin };
  return reader.finish(tool, "INVALID_DECLARATION", what);
}

function readText(bytes: Uint8Array, what: string): JsonValue {
  try {
    return parseJson(bytes);
  } catch (cause) {
    throw new KernelError("INVALID_DECLARATION", `${what} is not JSON`, { cause });
  }
}

function kindOf({ kind }: ToolPin): ToolKind {
  if (kind === "http") return ENDPOINT_KIND;
  return kind === "wasm" ? WASM_KIND : PROGRAM_KIND;
}

function readPin(reader: JsonReader, object: JsonObject): ToolPin | undefined {
  const [key = "program", other] = PIN_KEYS.filter((name) => Object.hasOwn(object, name));
  if (other !== undefined) return reader.refuse(key, "exclusive", `stands beside \`${other}\``);
  if (key === "endpoint") return readEndpointPin(reader, object["endpoint"], "endpoint");
  if (key === "wasm") return readWasmPin(reader, object["wasm"], "wasm");
  return readProgram(reader, ownField(object, "program"));
}

function readProgram(reader: JsonReader, json: JsonValue | undefined): ProgramPin | undefined {
  const object = reader.object(json, "program", ["kind", "command", "files", "secrets"]);
  if (object === undefined) return undefined;
  const kind = reader.choice(ownField(object, "kind"), "program.kind", ["subprocess", "module"]);
  const command = reader.list(ownField(object, "command"), "program.command", PROGRAM_LIMITS.words, (item, field) =>
    readWord(reader, item, field),
  );
  const files = reader.list(ownField(object, "files"), "program.files", PROGRAM_LIMITS.files, (item, field) =>
    readPinnedFileJson(reader, item, field),
  );
  const secrets = readSecrets(reader, ownField(object, "secrets"));
  if (kind === undefined || command === undefined || files === undefined) return undefined;
  return { kind, command, files, secrets };
}

function readWord(reader: JsonReader, json: JsonValue, field: string): CommandWord | undefined {
  const object = reader.object(json, field, ["word", "file"]);
  const file = object && ownField(object, "file");
  if (typeof file === "string") return { file };
  const word = object && ownField(object, "word");
  return typeof word === "string" ? { word } : reader.refuse(field, "format", "must be a word or a file");
}

function readSecrets(reader: JsonReader, json: JsonValue | undefined): ReadonlyMap<string, string> {
  const names = typeof json === "object" && json !== null ? Object.keys(json) : [];
  const object: JsonObject = reader.object(json, "program.secrets", names) ?? {};
  const secrets = new Map<string, string>();
  for (const [variable, secret] of Object.entries(object)) {
    if (typeof secret === "string" && isSecretName(secret)) secrets.set(variable, secret);
    else reader.refuse("program.secrets", "format", "must hold names of secrets");
  }
  return secrets;
}
