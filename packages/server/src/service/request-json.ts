import { type DescField, type DescMessage, isMessage, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  isJsonObject,
  JsonSyntaxError,
  type JsonValue,
  KernelError,
  parseJson,
  type Rule,
  type ToolRequest,
  ToolRequestSchema,
  type Violation,
} from "@narthex/contracts";

/** Valid JSON that is not a valid request; carries the request's id, if there is one, for the response. */
export class RequestJsonError extends KernelError {
  override readonly name = "RequestJsonError";
  readonly requestId: string;

  constructor(violations: readonly Violation[], requestId: string) {
    super("INVALID_REQUEST", `the body is not a request in JSON: ${violations[0]?.message ?? "no reason"}`, {
      violations,
    });
    this.requestId = requestId;
  }
}

const MAX_UINT64 = 0xffff_ffff_ffff_ffffn;
const MAX_VIOLATIONS = 100;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const DECIMAL = /^(?:0|[1-9][0-9]{0,19})$/;

/**
 * Parses a ToolRequest from the JSON form of protobuf, as strictly as from the binary form: unknown fields, a duplicate
 * field (under either of its names) and two variants at once are all reported. Throws nothing but RequestJsonError.
 */
export function parseRequestJson(source: Uint8Array): ToolRequest {
  const violations: Violation[] = [];
  let json: JsonValue;
  try {
    json = parseJson(source);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new RequestJsonError([{ field: error.path, rule: error.rule, message: error.message }], "");
  }
  const { message } = readMessage(ToolRequestSchema, json, "", violations);
  if (!isMessage(message, ToolRequestSchema)) throw new TypeError("unexpected message type");
  if (violations.length > 0) throw new RequestJsonError(violations, message.requestId);
  return message;
}

const fieldsByName = new WeakMap<DescMessage, ReadonlyMap<string, DescField>>();

function readMessage(schema: DescMessage, json: JsonValue, prefix: string, violations: Violation[]): ReflectMessage {
  const message = reflect(schema);
  if (!isJsonObject(json)) {
    add(violations, prefix.slice(0, -1), "malformed", "an object is expected here");
    return message;
  }
  const fields = fieldsOf(schema);
  const seen = new Set<DescField>();
  for (const [key, value] of Object.entries(json)) {
    const field = fields.get(key);
    if (field === undefined) {
      add(violations, prefix + key.slice(0, 64), "unknown_field", "no field has this name");
      continue;
    }
    const path = prefix + field.name;
    if (seen.has(field)) {
      add(violations, path, "duplicate", "the field is given twice, under both its names");
      continue;
    }
    seen.add(field);
    if (value === null) continue;
    if (field.oneof !== undefined && message.oneofCase(field.oneof) !== undefined) {
      add(violations, path, "one_of", `another variant of \`${field.oneof.name}\` is given already: send exactly one`);
      continue;
    }
    readField(message, field, value, path, violations);
  }
  return message;
}

function fieldsOf(schema: DescMessage): ReadonlyMap<string, DescField> {
  let fields = fieldsByName.get(schema);
  if (fields === undefined) {
    fields = new Map(
      schema.fields.flatMap((field) => [[field.jsonName, field] as const, [field.name, field] as const]),
    );
    fieldsByName.set(schema, fields);
  }
  return fields;
}

function readField(
  message: ReflectMessage,
  field: DescField,
  value: JsonValue,
  path: string,
  violations: Violation[],
): void {
  if (field.fieldKind === "message") {
    message.set(field, readMessage(field.message, value, `${path}.`, violations));
    return;
  }
  if (field.fieldKind === "scalar") {
    const scalar = readScalar(field.scalar, value);
    if (scalar === undefined) add(violations, path, "malformed", `a ${nameOf(field.scalar)} is expected here`);
    else message.set(field, scalar);
    return;
  }
  if (field.fieldKind !== "list" || field.listKind !== "scalar") throw new TypeError(`no reader for ${field.name}`);
  if (!Array.isArray(value)) {
    add(violations, path, "malformed", "a list is expected here");
    return;
  }
  const list = message.get(field);
  for (const [index, item] of value.entries()) {
    const scalar = readScalar(field.scalar, item);
    if (scalar === undefined)
      add(violations, `${path}[${index}]`, "malformed", `a ${nameOf(field.scalar)} is expected`);
    else list.add(scalar);
  }
}

function readScalar(type: ScalarType, value: JsonValue): string | boolean | number | bigint | Uint8Array | undefined {
  switch (type) {
    case ScalarType.STRING:
      return typeof value === "string" ? value : undefined;
    case ScalarType.BOOL:
      return typeof value === "boolean" ? value : undefined;
    case ScalarType.BYTES:
      return typeof value === "string" ? readBase64(value) : undefined;
    case ScalarType.UINT64:
      return readUnsigned(value, MAX_UINT64);
    case ScalarType.UINT32: {
      const number = readUnsigned(value, 0xffff_ffffn);
      return number === undefined ? undefined : Number(number);
    }
    default:
      throw new TypeError(`no reader for ${ScalarType[type]}`);
  }
}

function readUnsigned(value: JsonValue, max: bigint): bigint | undefined {
  const isWhole = typeof value === "number" ? Number.isInteger(value) && value >= 0 : false;
  if (!isWhole && !(typeof value === "string" && DECIMAL.test(value))) return undefined;
  const number = BigInt(typeof value === "number" || typeof value === "string" ? value : 0);
  return number <= max ? number : undefined;
}

/** Decodes both alphabets, with or without padding. */
function readBase64(text: string): Uint8Array | undefined {
  if (!BASE64.test(text)) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  if ((text.length - padding) % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  return Buffer.from(text, "base64");
}

function nameOf(type: ScalarType): string {
  return type === ScalarType.BYTES ? "base64 text" : ScalarType[type].toLowerCase();
}

function add(violations: Violation[], field: string, rule: Rule, message: string): void {
  if (violations.length < MAX_VIOLATIONS) violations.push({ field, rule, message });
}
