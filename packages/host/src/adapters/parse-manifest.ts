import type { JsonObject, JsonValue } from "@narthex/contracts";
import { createJsonReader, joinField, type JsonReader, ownField } from "@narthex/kernel";
import { isSecretName } from "../secrets/secret-source.ts";
import { readEndpointPin } from "./endpoint-pin.ts";
import { DECLARATION_KEYS, readDeclaration } from "./read-declaration.ts";
import { ENDPOINT_KIND, PROGRAM_KIND } from "./tool-kind.ts";
import {
  type CommandWord,
  type EndpointManifest,
  PROGRAM_LIMITS,
  type ProgramManifest,
  type ToolManifest,
} from "./tool-manifest.ts";

const PROGRAM_KEYS = ["command", "files", "secrets"];
const MANIFEST_KEYS = [...DECLARATION_KEYS, ...PROGRAM_KEYS, "endpoint"];
/** Name of a program on the PATH inside the sandbox. */
const PROGRAM_NAME = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,127}$/;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Variables that the sandbox sets, and variables that would change how a program is loaded. */
const RESERVED_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|TZ|TERM|LD_.*|NARTHEX_.*|NODE_OPTIONS|BASH_ENV)$/;

/** Parses a manifest. Throws INVALID_DECLARATION with every problem; `file` is the name used in the messages. */
export function parseManifest(json: JsonValue, file: string): ToolManifest {
  const reader = createJsonReader();
  const object = reader.object(json, "", MANIFEST_KEYS);
  const read = object !== undefined && Object.hasOwn(object, "endpoint") ? readEndpoint : readProgram;
  return reader.finish(object && read(reader, object), "INVALID_DECLARATION", `the manifest \`${file}\``);
}

/** An endpoint excludes all keys that describe a program. */
function readEndpoint(reader: JsonReader, object: JsonObject): EndpointManifest | undefined {
  for (const key of PROGRAM_KEYS.filter((name) => Object.hasOwn(object, name))) {
    reader.refuse(key, "exclusive", "is a program's; a tool with an `endpoint` has none");
  }
  const declaration = readDeclaration(reader, object, "", ENDPOINT_KIND);
  const endpoint = readEndpointPin(reader, object["endpoint"], "endpoint");
  return endpoint && { declaration, endpoint };
}

function readProgram(reader: JsonReader, object: JsonObject): ProgramManifest {
  const declaration = readDeclaration(reader, object, "", PROGRAM_KIND);
  const command = readCommand(reader, ownField(object, "command"));
  const further = Object.hasOwn(object, "files")
    ? (reader.list(object["files"], "files", PROGRAM_LIMITS.files, (item, field) => readPath(reader, item, field)) ??
      [])
    : [];
  const files = [...new Set([...command.flatMap((word) => ("file" in word ? [word.file] : [])), ...further])];
  if (files.length === 0 && command.length > 0) {
    reader.refuse("command", "required", "must name a file of the tool, such as `./tool.py`: what it runs is hashed");
  }
  return { declaration, command, files, secrets: readSecrets(reader, ownField(object, "secrets")) };
}

function readCommand(reader: JsonReader, json: JsonValue | undefined): readonly CommandWord[] {
  const words = reader.list(json, "command", PROGRAM_LIMITS.words, (item, field): CommandWord | undefined => {
    if (typeof item === "string" && item.startsWith("./")) {
      const file = readPath(reader, item, field);
      return file === undefined ? undefined : { file };
    }
    if (field === "command[0]" && (typeof item !== "string" || !PROGRAM_NAME.test(item))) {
      return reader.refuse(
        field,
        "format",
        "must be a file such as `./tool.py`, or a program's name such as `python3`",
      );
    }
    if (item === "") return { word: "" };
    const word = reader.name(item, field, PROGRAM_LIMITS.wordLength);
    return word === undefined ? undefined : { word };
  });
  if (words === undefined) return [];
  if (words.length === 0) reader.refuse("command", "required", "must name a program");
  return words;
}

/** Reads a normalized path below the directory of the manifest. */
function readPath(reader: JsonReader, json: JsonValue, field: string): string | undefined {
  const text = reader.name(json, field, PROGRAM_LIMITS.wordLength);
  if (text === undefined) return undefined;
  const path = text.startsWith("./") ? text.slice(2) : text;
  const parts = path.split("/");
  if (parts.includes("..")) return reader.refuse(field, "no_traversal", "must lie beside the manifest: `..` leads out");
  if (parts.some((part) => part === "" || part === "." || Buffer.byteLength(part) > 255)) {
    return reader.refuse(field, "format", "must be a path relative to the manifest, such as `lib/words.txt`");
  }
  return path;
}

function readSecrets(reader: JsonReader, json: JsonValue | undefined): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  if (json === undefined) return secrets;
  const names = typeof json === "object" && json !== null && !Array.isArray(json) ? Object.keys(json) : [];
  const object = reader.object(json, "secrets", names) ?? {};
  if (names.length > PROGRAM_LIMITS.secrets) {
    reader.refuse("secrets", "max_items", `must have at most ${PROGRAM_LIMITS.secrets} entries`);
  }
  for (const variable of names) {
    const field = joinField("secrets", variable);
    if (!VARIABLE_NAME.test(variable)) reader.refuse(field, "format", "must be the name of a variable");
    else if (RESERVED_VARIABLES.test(variable)) reader.refuse(field, "exclusive", "is set by the sandbox itself");
    const secret = ownField(object, variable);
    if (typeof secret === "string" && isSecretName(secret)) secrets.set(variable, secret);
    else reader.refuse(field, "format", "must be a secret's name, such as `weather_key`");
  }
  return secrets;
}
