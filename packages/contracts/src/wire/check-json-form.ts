import type { Violation } from "../kernel-error.ts";
import type { JsonObject, JsonValue } from "../json/json-value.ts";
import {
  MAX_ARG_LEN,
  MAX_COMMAND_LEN,
  MAX_EDIT_SIZE,
  MAX_ENV_BYTES,
  MAX_PATH_LEN,
  MAX_REPEATED_ITEMS,
  MAX_WRITE_SIZE,
} from "../limits.ts";
import { checkText, type Report, type TextRules } from "./check-text.ts";

const PATH: TextRules = { required: true, maxCharacters: MAX_PATH_LEN, noNul: true, noTraversal: true };
const CWD: TextRules = { maxCharacters: MAX_PATH_LEN, noNul: true, noTraversal: true };
const COMMAND: TextRules = { required: true, maxBytes: MAX_COMMAND_LEN, noNul: true };
const ENTRY: TextRules = { maxBytes: MAX_ARG_LEN, noNul: true };

/** Rules for the text fields of each built-in tool; a field with `[]` is a list of texts. */
const TEXTS: ReadonlyMap<string, readonly (readonly [field: string, rules: TextRules])[]> = new Map([
  ["file_read", [["path", PATH]]],
  ["file_write", [["path", PATH]]],
  [
    "file_edit",
    [
      ["path", PATH],
      ["old_content", { required: true, maxBytes: MAX_EDIT_SIZE }],
      ["new_content", { maxBytes: MAX_EDIT_SIZE }],
    ],
  ],
  ["file_delete", [["path", PATH]]],
  ["file_list", [["path", PATH]]],
  [
    "file_move",
    [
      ["source", PATH],
      ["destination", PATH],
    ],
  ],
  ["file_search", [["path", PATH]]],
  ["read_file", [["path", PATH]]],
  [
    "vault_copyto",
    [
      ["source", PATH],
      ["destination", PATH],
    ],
  ],
  ["db_query", [["database", PATH]]],
  [
    "shell_exec",
    [
      ["command", COMMAND],
      ["cwd", CWD],
    ],
  ],
  [
    "shell_spawn",
    [
      ["command", COMMAND],
      ["cwd", CWD],
    ],
  ],
  [
    "git",
    [
      ["args[]", ENTRY],
      ["cwd", CWD],
    ],
  ],
  ["artifact_publish", [["metadata[]", { maxBytes: MAX_ARG_LEN }]]],
]);

/**
 * Finds all limits of the wire's typed messages that the JSON form of a call to a built-in tool breaks, with the same
 * rule names. Numbers, ids and hashes are not checked here: the tools' schemas limit them.
 *
 * SPEC: docs/formats/wire.md, "Rules of a request".
 */
export function checkJsonForm(tool: string, input: JsonObject): Violation[] {
  const violations: Violation[] = [];
  const report: Report = (field, rule, message) => {
    violations.push({ field, rule, message: `\`${field}\` ${message}` });
  };
  for (const [field, rules] of TEXTS.get(tool) ?? []) checkField(report, field, rules, input);
  if (tool === "file_write") checkWrite(report, input);
  if (tool === "shell_exec" || tool === "shell_spawn") checkEnvironment(report, input["env"]);
  return violations;
}

function checkField(report: Report, field: string, rules: TextRules, input: JsonObject): void {
  if (!field.endsWith("[]")) return checkTextField(report, field, input[field], rules);
  const name = field.slice(0, -2);
  const items = input[name];
  if (!Array.isArray(items)) return;
  for (const [index, item] of items.slice(0, MAX_REPEATED_ITEMS).entries()) {
    checkTextField(report, `${name}[${index}]`, item, rules);
  }
}

/** Missing values and values that are not text are reported by the schema. */
function checkTextField(report: Report, field: string, value: JsonValue | undefined, rules: TextRules): void {
  if (typeof value === "string") checkText(report, field, value, rules);
}

function checkWrite(report: Report, { content, encoding, create_only: createOnly, append }: JsonObject): void {
  if (typeof content === "string") {
    const size = encoding === "base64" ? Buffer.byteLength(content, "base64") : Buffer.byteLength(content);
    if (size > MAX_WRITE_SIZE) report("content", "max_length", `must have at most ${MAX_WRITE_SIZE} bytes`);
    if (!content.isWellFormed()) report("content", "format", "must not contain half a surrogate pair");
  }
  if (createOnly === true && append === true) {
    report("append", "exclusive", "must not be set together with `create_only`");
  }
}

/** Checks each variable as a `NAME=VALUE` entry, as on the wire. Here a value may contain any number of `=`. */
function checkEnvironment(report: Report, env: JsonValue | undefined): void {
  if (typeof env !== "object" || env === null || Array.isArray(env)) return;
  let size = 0;
  for (const [name, value] of Object.entries(env).slice(0, MAX_REPEATED_ITEMS)) {
    if (typeof value !== "string") continue;
    checkText(report, `env.${name.slice(0, 256)}`, `${name}=${value}`, ENTRY);
    size += Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
  }
  if (size > MAX_ENV_BYTES) {
    report("env", "max_length", `must have at most ${MAX_ENV_BYTES} bytes together: no process can be given more`);
  }
}
