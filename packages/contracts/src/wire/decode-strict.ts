import { create } from "@bufbuild/protobuf";
import type { Violation } from "../kernel-error.ts";
import { MAX_FRAME_BYTES } from "../limits.ts";
import type { Rule } from "../rule.ts";
import { DecodeError } from "./decode-error.ts";
import { type FieldPlan, FIXED32, FIXED64, LENGTH_DELIMITED, type MessagePlan, VARINT } from "./message-plan.ts";
import { WireProblem, WireReader } from "./wire-reader.ts";

/** Maximum number of problems to list. */
const MAX_VIOLATIONS = 100;
/**
 * Maximum number of entries of a repeated field to decode, so that the validator can name every problem; more are
 * rejected here.
 */
const MAX_DECODED_ITEMS = 100_000;

type Fields = { [localName: string]: unknown };

/**
 * Decodes one message in one pass. Rejects input that protobuf accepts or merges: unknown fields, a singular field
 * given twice, two variants of a oneof, numbers beyond their type, fields that extend beyond their message. Throws only
 * DecodeError. Fields of type bytes are views of `bytes`.
 */
export function decodeStrict(plan: MessagePlan, bytes: Uint8Array): Fields {
  const violations: Violation[] = [];
  const reader = new WireReader(bytes);
  try {
    if (bytes.length > MAX_FRAME_BYTES)
      throw new WireProblem(`a message has at most ${MAX_FRAME_BYTES} bytes`, "max_length");
    const message = readMessage(plan, reader, bytes.length, violations);
    if (violations.length > 0) throw new DecodeError(violations);
    return message;
  } catch (error) {
    if (!(error instanceof WireProblem)) throw error;
    violations.push({ field: reader.path, rule: error.rule, message: error.message });
    throw new DecodeError(violations);
  }
}

function readMessage(plan: MessagePlan, reader: WireReader, end: number, violations: Violation[]): Fields {
  const message = create(plan.schema) as Fields;
  let seen = 0;
  while (reader.pos < end) {
    reader.path = plan.path;
    const tag = reader.tag(end);
    const number = tag >>> 3;
    const field = plan.fields[number];
    reader.path = field?.path ?? (plan.path === "" ? `${number}` : `${plan.path}.${number}`);
    if (field === undefined) {
      add(violations, reader.path, "unknown_field", `field number ${number} is not known here`);
      skipField(tag & 7, reader, end);
    } else if ((tag & 7) !== field.wireType) {
      throw new WireProblem(`wire type ${tag & 7} does not fit the field`);
    } else if (field.isRepeated) {
      const items = message[field.localName] as unknown[];
      if (items.length >= MAX_DECODED_ITEMS)
        throw new WireProblem(`more than ${MAX_DECODED_ITEMS} entries`, "max_items");
      items.push(readValue(field, items.length, reader, end, violations));
    } else if ((seen & (field.bit | field.oneofBits)) !== 0) {
      addRepeat(field, seen, violations);
      skipField(tag & 7, reader, end);
    } else {
      seen |= field.bit;
      const value = readValue(field, -1, reader, end, violations);
      if (field.oneof === undefined) message[field.localName] = value;
      else message[field.oneof.localName] = { case: field.localName, value };
    }
  }
  return message;
}

function readValue(field: FieldPlan, index: number, reader: WireReader, end: number, violations: Violation[]): unknown {
  switch (field.kind) {
    case "string": {
      const text = reader.text(reader.lengthDelimited(end));
      if (text === undefined) {
        const path = index < 0 ? field.path : `${field.path}[${index}]`;
        add(violations, path, "malformed", "the text is not UTF-8");
      }
      return text ?? "";
    }
    case "bytes":
      return reader.view(reader.lengthDelimited(end));
    case "uint32":
      return reader.uint32(end);
    case "uint64":
      return reader.uint64(end);
    case "bool":
      return reader.bool(end);
    case "message":
      return readMessage(field.message, reader, reader.lengthDelimited(end), violations);
  }
}

function addRepeat(field: FieldPlan, seen: number, violations: Violation[]): void {
  if ((seen & field.bit) !== 0 || field.oneof === undefined) {
    add(violations, field.path, "duplicate", "the field is given twice");
  } else {
    add(
      violations,
      field.path,
      "one_of",
      `another variant of \`${field.oneof.path}\` is given already: send exactly one`,
    );
  }
}

function skipField(wireType: number, reader: WireReader, end: number): void {
  switch (wireType) {
    case VARINT:
      reader.uint64(end);
      return;
    case FIXED64:
      reader.skip(8, end);
      return;
    case LENGTH_DELIMITED:
      reader.pos = reader.lengthDelimited(end);
      return;
    case FIXED32:
      reader.skip(4, end);
      return;
    default:
      throw new WireProblem(`wire type ${wireType} is not used`);
  }
}

function add(violations: Violation[], field: string, rule: Rule, message: string): void {
  violations.push({ field, rule, message });
  // SECURITY: a frame full of unknown fields must not produce an equally long list of problems.
  if (violations.length >= MAX_VIOLATIONS) throw new DecodeError(violations);
}
