import type { JsonObject, Violation } from "@narthex/contracts";
import { createJsonReader } from "../capability/json-reader.ts";
import { readCapability } from "../capability/parse-capability.ts";
import { isLabel } from "../label/check-labels.ts";
import { capabilitiesToJson } from "../lease/parse-lease-request.ts";
import { CONTEXT_NAMES } from "../policy/schema/context-shape.ts";
import { hasHiddenText } from "../schema/schema-document.ts";
import { DECLARATION_CEILINGS } from "./ceilings.ts";
import { EFFECT_CAPABILITIES, OUTSIDE_EFFECTS, WRITE_EFFECTS } from "./effect-rules.ts";
import { parseSemver } from "./semver.ts";
import {
  DETERMINISM_LEVELS,
  EFFECTS,
  type Effect,
  type Isolation,
  type Redactor,
  RESULT_TYPES,
  SAFETY_TIERS,
  type Tool,
  type ToolSource,
} from "./tool.ts";

const TOOL_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Only built-in tools and the embedder's own code are trusted enough to run inline. */
const ISOLATION_BY_SOURCE: Readonly<Record<ToolSource, readonly Isolation[]>> = {
  builtin: ["inline", "worker", "process", "wasm", "http"],
  embedder: ["inline"],
  module: ["process"],
  subprocess: ["process"],
  wasm: ["wasm"],
  http: ["http"],
  mcp: ["mcp"],
};
const PROGRAM_HASH = /^[0-9a-f]{64}$/;
const FUNCTIONS = [
  "narrow",
  "action",
  "needs",
  "reserves",
  "approvalScope",
  "approvalFiles",
  "canonicalInput",
  "firstLine",
  "textView",
  "normaliseCustom",
  "reconcile",
] as const;

/**
 * Finds violations in a declaration, apart from its schemas and bounds. Does not rely on static types: adapters build
 * tools too.
 */
export function findDeclarationProblems(tool: Tool): Violation[] {
  return [
    ...identity(tool),
    ...effects(tool),
    ...safety(tool),
    ...capabilities(tool),
    ...normalising(tool),
    ...labels(tool),
    ...code(tool),
  ];
}

function* identity(tool: Tool): Generator<Violation> {
  if (typeof tool.name !== "string" || !TOOL_NAME.test(tool.name)) {
    yield problem("name", "format", "must be 1 to 64 of a-z, 0-9 and _, beginning with a letter");
  }
  const version = typeof tool.version === "string" ? parseSemver(tool.version) : undefined;
  if (version === undefined) yield problem("version", "format", "must be a semantic version such as 1.0.0");
  else if (version.build.length > 0) {
    yield problem("version", "format", "must have no build metadata: two of them could not be put in order");
  }
  if (typeof tool.description !== "string" || tool.description.trim() === "") {
    yield problem("description", "required", "must say what the tool does");
  } else if (tool.description.length > DECLARATION_CEILINGS.description) {
    yield problem("description", "max_length", `must have at most ${DECLARATION_CEILINGS.description} characters`);
  } else if (hasHiddenText(tool.description)) {
    yield problem("description", "format", "holds invisible characters");
  }
  const isolations = Object.hasOwn(ISOLATION_BY_SOURCE, tool.source) ? ISOLATION_BY_SOURCE[tool.source] : undefined;
  if (isolations === undefined) yield problem("source", "one_of", oneOf(Object.keys(ISOLATION_BY_SOURCE)));
  else if (!isolations.includes(tool.isolation)) {
    yield problem("isolation", "one_of", `must be ${isolations.join(" or ")} for a tool from ${tool.source}`);
  }
}

function* effects(tool: Tool): Generator<Violation> {
  if (!isList(tool.effects)) {
    yield problem("effects", "required", "must be a list; the empty list declares none");
    return;
  }
  for (const [index, effect] of tool.effects.entries()) {
    if (!EFFECTS.includes(effect)) yield problem(`effects[${index}]`, "one_of", oneOf(EFFECTS));
    else if (tool.effects.indexOf(effect) < index) yield problem(`effects[${index}]`, "duplicate", "is listed twice");
  }
}

function* safety(tool: Tool): Generator<Violation> {
  const declared = knownEffects(tool);
  if (!SAFETY_TIERS.includes(tool.tier)) yield problem("tier", "one_of", oneOf(SAFETY_TIERS));
  if (!DETERMINISM_LEVELS.includes(tool.determinism)) yield problem("determinism", "one_of", oneOf(DETERMINISM_LEVELS));
  for (const effect of declared) {
    if (tool.tier === "read_only" && WRITE_EFFECTS.has(effect)) {
      yield problem("tier", "exclusive", `a read_only tool cannot have the effect ${effect}`);
    }
    if (tool.determinism === "pure") {
      yield problem("determinism", "exclusive", `a pure tool cannot have the effect ${effect}`);
    } else if (tool.determinism === "deterministic" && OUTSIDE_EFFECTS.has(effect)) {
      yield problem("determinism", "exclusive", `what ${effect} brings cannot be replayed: say external`);
    }
  }
}

function* capabilities(tool: Tool): Generator<Violation> {
  if (!isList(tool.capabilities)) {
    yield problem("capabilities", "required", "must be a list; the empty list asks for none");
    return;
  }
  if (tool.capabilities.length > DECLARATION_CEILINGS.capabilities) {
    yield problem("capabilities", "max_items", `must have at most ${DECLARATION_CEILINGS.capabilities} entries`);
  }
  const reader = createJsonReader();
  for (const [index, form] of capabilitiesToJson(tool.capabilities).entries()) {
    readCapability(reader, form, `capabilities[${index}]`);
  }
  yield* reader.violations;
  if (reader.violations.length > 0) return;
  const kinds = new Set(tool.capabilities.map((capability) => capability.kind));
  for (const effect of knownEffects(tool)) {
    const wanted = EFFECT_CAPABILITIES[effect];
    if (wanted.some((kind) => kinds.has(kind))) continue;
    yield problem("capabilities", "required", `the effect ${effect} needs a capability of kind ${wanted.join(" or ")}`);
  }
}

function* normalising(tool: Tool): Generator<Violation> {
  const { resultType, normalise } = tool;
  if (!RESULT_TYPES.includes(resultType)) {
    yield problem("resultType", "one_of", oneOf(RESULT_TYPES));
    return;
  }
  const hasFunction = typeof tool.normaliseCustom === "function";
  if (normalise !== "json" && normalise !== "binary" && normalise !== "custom") {
    yield problem("normalise", "required", oneOf(["json", "binary", "custom"]));
  } else if (normalise === "custom" && !hasFunction) {
    yield problem("normaliseCustom", "required", "must be given with the rule custom");
  } else if (normalise !== "custom" && hasFunction) {
    yield problem("normaliseCustom", "exclusive", `contradicts the rule ${normalise}`);
  } else if (normalise === "custom" && resultType === "stream") {
    yield problem("normalise", "exclusive", "a stream is hashed as it comes: its rule is binary");
  } else if (normalise !== "custom" && normalise !== naturalRule(resultType)) {
    yield problem("normalise", "exclusive", `a ${resultType} result is normalised as ${naturalRule(resultType)}`);
  }
}

/** The default normalisation of a result type, for tools without a rule of their own. */
export function naturalRule(resultType: Tool["resultType"]): "json" | "binary" {
  return resultType === "string" || resultType === "binary" || resultType === "stream" ? "binary" : "json";
}

function* labels(tool: Tool): Generator<Violation> {
  if (tool.labels === undefined) return;
  if (!isList(tool.labels) || tool.labels.length > DECLARATION_CEILINGS.labels || !tool.labels.every(isLabel)) {
    yield problem("labels", "format", `must be at most ${DECLARATION_CEILINGS.labels} words of a-z, 0-9, _ and -`);
  }
}

function* code(tool: Tool): Generator<Violation> {
  if (tool.program !== undefined && !PROGRAM_HASH.test(tool.program.hash)) {
    yield problem("program.hash", "format", "must be 64 lower-case hex digits");
  }
  if (typeof tool.run !== "function") yield problem("run", "required", "must be a function");
  for (const name of FUNCTIONS) {
    if (tool[name] !== undefined && typeof tool[name] !== "function") yield problem(name, "type", "must be a function");
  }
  yield* policySide(tool);
  yield* redactors(tool);
  if (tool.takesSecrets !== undefined && typeof tool.takesSecrets !== "boolean") {
    yield problem("takesSecrets", "type", "must be true or false");
  }
  for (const name of ["needsAnyOf", "anyCase"] as const) {
    const names: unknown = tool[name];
    if (names === undefined) continue;
    if (!Array.isArray(names) || names.length === 0 || !names.every((item) => typeof item === "string")) {
      yield problem(name, "type", "must be a list of names");
    }
  }
}

/** SECURITY: a malformed redactor would hide nothing. */
function* redactors(tool: Tool): Generator<Violation> {
  if (tool.redactors === undefined) return;
  if (!isList(tool.redactors)) {
    yield problem("redactors", "type", "must be a list");
    return;
  }
  for (const [index, redactor] of tool.redactors.entries()) {
    const { secrets, replacement, ...others }: Partial<Redactor> = isObject(redactor) ? redactor : {};
    if (
      secrets === undefined ||
      !isList(secrets) ||
      !secrets.every((text) => typeof text === "string" && text !== "")
    ) {
      yield problem(`redactors[${index}].secrets`, "required", "must be texts that are not empty");
    }
    if (typeof replacement !== "string") {
      yield problem(`redactors[${index}].replacement`, "required", "must be text: what stands in a secret's place");
    }
    const unknown = Object.keys(others).length > 0;
    if (unknown) yield problem(`redactors[${index}]`, "unknown_field", "takes secrets and replacement, nothing else");
  }
  if (tool.redactors.length > DECLARATION_CEILINGS.redactors) {
    yield problem("redactors", "max_items", `must have at most ${DECLARATION_CEILINGS.redactors} entries`);
  }
}

const ACTION_NAME = /^[a-z][a-z0-9_]{0,127}$/;

/** SECURITY: a tool can only name its own actions, so that it never matches a rule for another tool. */
function* policySide(tool: Tool): Generator<Violation> {
  if ((tool.action === undefined) !== (tool.actions === undefined)) {
    yield problem("actions", "required", "must name what `action` can give, and stands only with it");
  }
  if (tool.actions !== undefined && !isList(tool.actions)) {
    yield problem("actions", "type", "must be a list");
    return;
  }
  for (const [index, action] of (tool.actions ?? []).entries()) {
    if (typeof action === "string" && ACTION_NAME.test(action) && action.startsWith(`${tool.name}_`)) continue;
    yield problem(`actions[${index}]`, "format", `must begin with \`${tool.name}_\``);
  }
  const { derived } = tool;
  if (derived === undefined) return;
  if (!isObject(derived.schema) || !isObject(derived.schema["properties"]) || typeof derived.of !== "function") {
    yield problem("derived", "type", "must have the schema of an object with properties, and a function `of`");
    return;
  }
  for (const name of Object.keys(derived.schema["properties"] as JsonObject)) {
    if (CONTEXT_NAMES.has(name)) yield problem(`derived.schema.properties.${name}`, "duplicate", "is the kernel's own");
  }
}

function knownEffects(tool: Tool): Effect[] {
  return isList(tool.effects) ? EFFECTS.filter((effect) => tool.effects.includes(effect)) : [];
}

function isList(value: unknown): boolean {
  return Array.isArray(value);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function oneOf(words: readonly string[]): string {
  return `must be one of ${words.join(", ")}`;
}

function problem(field: string, rule: string, message: string): Violation {
  return { field, rule, message };
}
