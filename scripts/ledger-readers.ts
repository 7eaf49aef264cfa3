import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { CONTENT_LAYOUT, PROOF_LAYOUT, RECORD_LAYOUT } from "../packages/verify/src/ledger-layouts.ts";
import type { FieldLayout, MessageLayout } from "../packages/verify/src/wire/message-layout.ts";

/**
 * Generates the fast decoders of ledger messages from the layouts that the strict decoder uses: straight-line code for
 * each message instead of table lookups. `--check` writes nothing and fails if the generated file is out of date.
 */
const FILE = new URL("../packages/verify/src/wire/gen/read-ledger.ts", import.meta.url);

type Layout = MessageLayout<unknown>;

/** The entries that most records consist of. Entries of other kinds are left to the strict decoder. */
const QUICK = new Set([
  "Record",
  "Entry",
  "ToolInvoked",
  "CapabilityCheck",
  "BudgetAmount",
  "PolicyDecision",
  "ToolStarted",
  "Outcome",
  "RecordContent",
  "ContentItem",
]);

const HEAD = `// Written by scripts/ledger-readers.ts. Do not edit.
//
// Each reader gives the message that lies between two positions, or undefined if there is anything about its encoding
// that is not canonical: the careful reader then says what.
import { NO_BYTES, NO_CASE, NO_ITEMS } from "../message-layout.ts";
import { longVarint, readLongVarint } from "../read-long-varint.ts";
import { Slice } from "../slice.ts";
import { isUtf8, readText } from "../text.ts";

const NOTHING_KEPT = Object.freeze({});
`;

const text = writeReaders([RECORD_LAYOUT, CONTENT_LAYOUT, PROOF_LAYOUT]);
if (!process.argv.includes("--check")) {
  mkdirSync(new URL(".", FILE), { recursive: true });
  writeFileSync(FILE, text);
} else if (!existsSync(FILE) || readFileSync(FILE, "utf8") !== text) {
  console.error("the ledger's readers are not what its messages ask for: run `node scripts/ledger-readers.ts`");
  process.exitCode = 1;
}

function writeReaders(roots: readonly Layout[]): string {
  const readers = new Map<string, string>();
  for (const root of roots) addReader(readers, root);
  return [HEAD, ...readers.values()].join("\n");
}

function addReader(readers: Map<string, string>, layout: Layout): void {
  if (readers.has(layout.name)) return;
  readers.set(layout.name, "");
  for (const field of layout.fields)
    if (isQuick(field) && field?.message !== undefined) addReader(readers, field.message);
  readers.set(layout.name, writeReader(layout));
}

function writeReader(layout: Layout): string {
  const fields = layout.fields.filter((field) => field !== undefined).filter(isQuick);
  const members = layout.start === undefined ? [] : Object.entries(layout.start());
  const lines = [
    `export function read${layout.name}(bytes: Uint8Array, from: number, end: number) {`,
    "  let at = from;",
    "  let previous = 0;",
    ...(fields.some((field) => field.delimited) ? ["  let length = 0;", "  let stop = 0;"] : []),
    ...(fields.some((field) => !field.delimited) ? ["  let value = 0;"] : []),
    ...members.map(([name]) => `  let ${name}${startOf(layout, name)};`),
    "  while (at < end) {",
    "    let tag = bytes[at++] as number;",
    "    if (tag > 0x7f) {",
    "      const high = bytes[at++] as number;",
    "      if (high === 0 || high > 0x7f) return undefined;",
    "      tag = (tag & 0x7f) | (high << 7);",
    "    }",
    "    switch (tag) {",
    ...fields.flatMap((field) => writeCase(layout, field)),
    "      default:",
    "        return undefined;",
    "    }",
    "    previous = tag;",
    "  }",
    "  if (at !== end) return undefined;",
    members.length === 0
      ? "  return NOTHING_KEPT;"
      : `  return { ${members.map(([name]) => `${name}: ${resultOf(layout, name)}`).join(", ")} };`,
    "}",
    "",
  ];
  return lines.join("\n");
}

function isQuick(field: FieldLayout | undefined): boolean {
  return field?.message === undefined || QUICK.has(field.message.name);
}

function resultOf(layout: Layout, name: string): string {
  if (isOneof(layout, name)) return `${name}Case === undefined ? NO_CASE : { case: ${name}Case, value: ${name} }`;
  return layout.fields.find((field) => field?.name === name)?.repeated === true ? `${name} ?? NO_ITEMS` : name;
}

function isOneof(layout: Layout, name: string): boolean {
  return layout.fields.some((field) => field?.oneof === name);
}

function startOf(layout: Layout, name: string): string {
  if (isOneof(layout, name))
    return `: unknown = undefined;\n  let ${name}Case: string | undefined = undefined as string | undefined`;
  const field = layout.fields.find((candidate) => candidate?.name === name);
  if (field === undefined) throw new Error(`${layout.name} has no field ${name}`);
  if (field.repeated) return ": unknown[] | undefined = undefined as unknown[] | undefined";
  switch (field.type) {
    case "bytes":
      return ": Slice = NO_BYTES";
    case "string":
      return ' = ""';
    case "bool":
      return " = false";
    case "message":
      throw new Error(`${layout.name}.${name}: one message as a field is not supported`);
    default:
      return " = 0";
  }
}

function writeCase(layout: Layout, field: FieldLayout): string[] {
  const tag = (field.number << 3) | (field.delimited ? 2 : 0);
  const body = field.delimited ? writeDelimited(layout, field) : writeNumber(field);
  const order = `if (tag ${field.repeated ? "<" : "<="} previous${field.oneof === undefined ? "" : " || previous !== 0"}) return undefined;`;
  return [`      case ${tag}: {`, ...[order, ...body, "break;"].map((line) => `        ${line}`), "      }"];
}

function writeNumber(field: FieldLayout): string[] {
  if (field.oneof !== undefined || field.repeated) throw new Error(`${field.name}: such a number is not supported`);
  const lines = [
    "value = bytes[at++] as number;",
    "if (value > 0x7f) {",
    "  value = readLongVarint(bytes, at, value);",
    "  at = longVarint.end;",
    "}",
  ];
  switch (field.type) {
    case "bool":
      return [...lines, "if (value !== 1) return undefined;", ...(field.dropped ? [] : [`${field.name} = true;`])];
    case "enum":
      lines.push(`if (${highest(field)} < value || value <= 0) return undefined;`);
      break;
    case "uint32":
      lines.push("if (value <= 0 || value > 0xffffffff) return undefined;");
      break;
    default:
      lines.push("if (value <= 0) return undefined;");
  }
  return [...lines, ...(field.dropped ? [] : [`${field.name} = value;`])];
}

/** The values of an enum have no gaps. */
function highest({ name, enumNumbers }: FieldLayout): number {
  const numbers = [...(enumNumbers ?? [])].sort((left, right) => left - right);
  if (numbers.some((number, i) => number !== i)) throw new Error(`${name}: an enum with gaps is not supported`);
  return numbers.length - 1;
}

function writeDelimited(layout: Layout, field: FieldLayout): string[] {
  const emptyAllowed = field.repeated || field.oneof !== undefined || field.type === "message";
  return [
    "length = bytes[at++] as number;",
    "if (length > 0x7f) {",
    "  length = readLongVarint(bytes, at, length);",
    "  at = longVarint.end;",
    "}",
    "stop = at + length;",
    `if (stop > end || length ${emptyAllowed ? "<" : "<="} 0) return undefined;`,
    ...writeValue(layout, field),
    "at = stop;",
  ];
}

function writeValue(layout: Layout, field: FieldLayout): string[] {
  switch (field.type) {
    case "message":
      if (field.message === undefined) throw new Error(`${layout.name}.${field.name} has no layout`);
      return [
        `const message = read${field.message.name}(bytes, at, stop);`,
        "if (message === undefined) return undefined;",
        ...keep(field, "message"),
      ];
    case "bytes":
      return keep(
        field,
        field.repeated ? "length === 0 ? NO_BYTES : new Slice(bytes, at, stop)" : "new Slice(bytes, at, stop)",
      );
    case "string":
      if (field.dropped) return ["if (!isUtf8(bytes, at, stop)) return undefined;"];
      return [
        "const text = readText(bytes, at, stop);",
        "if (text === undefined) return undefined;",
        ...keep(field, "text"),
      ];
    default:
      throw new Error(`${layout.name}.${field.name} is not delimited`);
  }
}

function keep(field: FieldLayout, value: string): string[] {
  if (field.dropped) return [];
  if (field.oneof !== undefined) return [`${field.oneof}Case = "${field.name}";`, `${field.oneof} = ${value};`];
  if (!field.repeated) return [`${field.name} = ${value};`];
  return [`if (${field.name} === undefined) ${field.name} = [${value}];`, `else ${field.name}.push(${value});`];
}
