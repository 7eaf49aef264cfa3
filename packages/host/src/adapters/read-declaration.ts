import { isJsonObject, type JsonObject, type JsonValue, type Violation } from "@narthex/contracts";
import {
  type Bounds,
  type Capability,
  checkDeclaration,
  defineTool,
  type Effect,
  EFFECT_RIGHTS,
  type JsonReader,
  joinField,
  ownField,
  readCapability,
} from "@narthex/kernel";
import type { ToolKind } from "./tool-kind.ts";
import type { ProgramDeclaration } from "./tool-manifest.ts";

/** Keys that describe a tool. A manifest has further keys. */
export const DECLARATION_KEYS = [
  "name",
  "version",
  "description",
  "input_schema",
  "output_schema",
  "result_type",
  "effects",
  "determinism",
  "tier",
  "capabilities",
  "bounds",
  "price",
  "labels",
] as const;

const PROGRAM_RESULTS = ["json", "object", "array", "string"] as const;
const MAX_TEXT = 65_536;
const MAX_CAPABILITIES = 100;
const MAX_LABELS = 100;

/**
 * Reads the declaration in an untrusted object. Every problem is reported to the reader, including those that the
 * registry would find. Use the result only if there are no problems.
 */
export function readDeclaration(
  reader: JsonReader,
  object: JsonObject,
  field: string,
  kind: ToolKind,
): ProgramDeclaration {
  const at = (key: string): string => joinField(field, key);
  const known = reader.violations.length;
  const text = (key: string): string => readText(reader, ownField(object, key), at(key));
  const effects = kind.readEffects(reader, object, at("effects"));
  const declaration: ProgramDeclaration = {
    name: text("name"),
    version: text("version"),
    description: text("description"),
    inputSchema: readSchema(reader, ownField(object, "input_schema"), at("input_schema")) ?? true,
    outputSchema: Object.hasOwn(object, "output_schema")
      ? readSchema(reader, object["output_schema"], at("output_schema"))
      : undefined,
    resultType: Object.hasOwn(object, "result_type")
      ? (reader.choice(object["result_type"], at("result_type"), PROGRAM_RESULTS) ?? "json")
      : "json",
    effects,
    // The registry rejects unknown values.
    determinism: text("determinism") as ProgramDeclaration["determinism"],
    tier: text("tier") as ProgramDeclaration["tier"],
    capabilities: readCapabilities(reader, object, at("capabilities"), effects, kind),
    bounds: boundsOf(reader, object, at("bounds"), kind),
    price: Object.hasOwn(object, "price") ? readNumber(reader, object["price"], at("price")) : 1,
    ...(Object.hasOwn(object, "labels") && { labels: readLabels(reader, object["labels"], at("labels")) }),
  };
  const refused = new Set(reader.violations.slice(known).map((violation) => topLevelKey(violation.field, field)));
  for (const violation of inspect(declaration, kind)) {
    const name = toManifestField(violation.field);
    // Reports one problem per mistake: skips a violation of the registry for a key that was rejected above.
    if (!refused.has(topLevelKey(name, ""))) reader.refuse(at(name), asRule(violation.rule), violation.message);
  }
  return declaration;
}

type Rule = Parameters<JsonReader["refuse"]>[1];

function asRule(rule: string): Rule {
  return rule as Rule;
}

function readText(reader: JsonReader, json: JsonValue | undefined, field: string): string {
  if (typeof json === "string" && json.length <= MAX_TEXT) return json;
  if (json === undefined) reader.refuse(field, "required", "must be given");
  else if (typeof json === "string") reader.refuse(field, "max_length", `must have at most ${MAX_TEXT} characters`);
  else reader.refuse(field, "format", "must be text");
  return "";
}

function readNumber(reader: JsonReader, json: JsonValue | undefined, field: string): number {
  return reader.wholeNumber(json, field, { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
}

function readSchema(reader: JsonReader, json: JsonValue | undefined, field: string): JsonObject | boolean | undefined {
  if (typeof json === "boolean" || isJsonObject(json)) return json;
  if (json === undefined) return reader.refuse(field, "required", "must be a JSON Schema; `true` takes any JSON");
  return reader.refuse(field, "format", "must be a JSON Schema: an object, or `true` for any JSON");
}

/** The capabilities that follow from the effects, and those that the author requests in addition. */
function readCapabilities(
  reader: JsonReader,
  object: JsonObject,
  field: string,
  effects: readonly Effect[],
  { ownEffects, followsFrom, rightsFor, checkRight }: ToolKind,
): Capability[] {
  const needed = rightsFor(effects);
  if (!Object.hasOwn(object, "capabilities")) return needed;
  const kinds = new Set<string>(ownEffects.map((effect) => EFFECT_RIGHTS[effect].kind));
  const demanded =
    reader.list(object["capabilities"], field, MAX_CAPABILITIES, (item, itemField) => {
      const capability = readCapability(reader, item, itemField);
      if (capability !== undefined) checkRight?.(reader, capability, itemField);
      if (capability?.kind === "wasm_exec") {
        return reader.refuse(itemField, "exclusive", "follows from the bounds; leave wasm_exec out");
      }
      if (capability === undefined || !kinds.has(capability.kind)) return capability;
      return reader.refuse(itemField, "exclusive", `follows from ${followsFrom}; leave ${capability.kind} out`);
    }) ?? [];
  return [...needed, ...demanded];
}

/** The registry checks the labels and their number. */
function readLabels(reader: JsonReader, json: JsonValue | undefined, field: string): string[] {
  return (
    reader.list(json, field, MAX_LABELS, (item, itemField) =>
      typeof item === "string" ? item : reader.refuse(itemField, "format", "must be text"),
    ) ?? []
  );
}

function boundsOf(reader: JsonReader, object: JsonObject, field: string, kind: ToolKind): Partial<Bounds> {
  const given = readBounds(reader, ownField(object, "bounds"), field, kind);
  if (kind.boundsFor !== undefined) return kind.boundsFor(reader, object, given, field);
  if (Object.hasOwn(object, "preset")) {
    reader.refuse(field.replace(/bounds$/, "preset"), "exclusive", "is for WebAssembly modules");
  }
  return given;
}

function readBounds(
  reader: JsonReader,
  json: JsonValue | undefined,
  field: string,
  { bounds }: ToolKind,
): Partial<Bounds> {
  if (json === undefined) return {};
  const object = reader.object(json, field, [...bounds.keys()]) ?? {};
  return Object.fromEntries(
    [...bounds].flatMap(([key, name]) =>
      Object.hasOwn(object, key) ? [[name, readNumber(reader, object[key], joinField(field, key))]] : [],
    ),
  );
}

/** Returns the violations that the registry would report. */
function inspect(declaration: ProgramDeclaration, { source, isolation, ownEffects }: ToolKind): readonly Violation[] {
  try {
    const { outputSchema, inputSchema, capabilities, ...rest } = declaration;
    const tool = defineTool({
      ...rest,
      inputSchema: true,
      // Adds all capabilities that follow from effects, so that the registry reports only mistakes of the author.
      capabilities: [...capabilities, ...ownEffects.map((effect) => EFFECT_RIGHTS[effect])],
      source,
      isolation,
      run: () => null,
    });
    checkDeclaration({ ...tool, inputSchema, outputSchema });
    return [];
  } catch (fault) {
    if (fault instanceof Error && "violations" in fault) return fault.violations as readonly Violation[];
    throw fault;
  }
}

/** `bounds.timeoutMs` is called `bounds.timeout_ms` in a manifest. */
function toManifestField(field: string): string {
  return field.replace(/^[A-Za-z]+(?:\.[A-Za-z]+)?/u, (path) =>
    path.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`),
  );
}

/** The top-level key of a field, without the path below it. */
function topLevelKey(field: string, parent: string): string {
  const own = parent === "" ? field : field.slice(parent.length + 1);
  return /^(?:bounds\.[a-z_]+|[^.[/#]*)/u.exec(own)?.[0] ?? own;
}
