import type { Clause, Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { quoteText } from "@narthex/kernel";

/** Maximum number of request values named in a sentence; the rest are counted. */
const MAX_NAMED = 3;

/**
 * Explains in words why a condition does not hold for a request: names the values that are missing from the rule's
 * list, not the list. Returns undefined for other forms of condition, which are then shown as written.
 */
export function describeCondition({ kind, body }: Clause, context: JsonObject): string | undefined {
  if (kind === "unless") {
    const held = describeHeld(body, context);
    return held === undefined ? undefined : `it does not apply when ${held}`;
  }
  return describeFailed(body, context);
}

type Tree = { readonly [operator: string]: unknown };

function describeFailed(body: Tree, context: JsonObject): string | undefined {
  const list = membership(body, context);
  if (list !== undefined) {
    const missing = list.values.filter((value) => !list.allowed.has(keyOf(value)));
    if (missing.length === 0) return undefined;
    return `${named(missing)} ${missing.length === 1 ? "is" : "are"} not in its list of ${list.allowed.size}`;
  }
  const any = pairOf(body, "containsAny", context);
  if (any !== undefined) return `${any.name} has none of ${named(any.literals)}`;
  const all = pairOf(body, "containsAll", context);
  if (all !== undefined) {
    const held = new Set(all.values.map(keyOf));
    return `${all.name} has no ${named(all.literals.filter((value) => !held.has(keyOf(value))))}`;
  }
  const one = pairOf(body, "contains", context);
  if (one !== undefined) return `${one.name} has no ${named(one.literals)}`;
  const empty = operand(body["isEmpty"], "arg");
  if (empty !== undefined) {
    const value = readPath(empty, context);
    const path = pathOf(empty);
    return Array.isArray(value) && path !== undefined ? `${path} is not empty: ${named(value)}` : undefined;
  }
  return describeEquality(body, context) ?? describeLike(body, context) ?? describeFlag(body, context);
}

/** `context.path like "docs/*"`. */
function describeLike(body: Tree, context: JsonObject): string | undefined {
  const left = operand(body["like"], "left");
  const [name, value] = [pathOf(left), readPath(left, context)];
  const like = body["like"];
  const parts: unknown = typeof like === "object" && like !== null ? Reflect.get(like, "pattern") : undefined;
  if (name === undefined || typeof value !== "string" || !Array.isArray(parts)) return undefined;
  const texts = parts.map((part: unknown) => {
    const literal: unknown = typeof part === "object" && part !== null ? Reflect.get(part, "Literal") : undefined;
    return typeof literal === "string" ? literal.replaceAll("*", "\\*") : "*";
  });
  return `${name} ${quoteText(value)} is not like ${quoteText(texts.join(""))}`;
}

/** `["a", "b"].containsAll(context.x)`, `["a"].contains(context.x)`. */
function membership(body: Tree, context: JsonObject) {
  for (const operator of ["containsAll", "contains"]) {
    const left = literalsOf(operand(body[operator], "left"));
    const value = readPath(operand(body[operator], "right"), context);
    if (left === undefined || value === undefined) continue;
    return {
      allowed: new Set(left.map(keyOf)),
      values: operator === "containsAll" && Array.isArray(value) ? value : [value],
    };
  }
  return undefined;
}

/** `context.x.containsAny(["a", "b"])` and similar operators. */
function pairOf(body: Tree, operator: string, context: JsonObject) {
  const left = operand(body[operator], "left");
  const right = operand(body[operator], "right");
  const [name, value] = [pathOf(left), readPath(left, context)];
  const literal = literalOf(right);
  const literals = literalsOf(right) ?? (literal === undefined ? undefined : [literal]);
  return name === undefined || !Array.isArray(value) || literals === undefined
    ? undefined
    : { name, values: value, literals };
}

function describeEquality(body: Tree, context: JsonObject): string | undefined {
  const left = operand(body["=="], "left");
  const [name, value, wanted] = [pathOf(left), readPath(left, context), literalOf(operand(body["=="], "right"))];
  if (name === undefined || value === undefined || wanted === undefined) return undefined;
  return `${name} is ${named([value])}, not ${named([wanted])}`;
}

function describeFlag(body: Tree, context: JsonObject): string | undefined {
  const negated = operand(body["!"], "arg");
  const flag = negated ?? body;
  const [name, value] = [pathOf(flag), readPath(flag, context)];
  return name !== undefined && typeof value === "boolean" ? `${name} is ${value}` : undefined;
}

function describeHeld(body: Expr, context: JsonObject): string | undefined {
  const tree = body as Tree;
  for (const operator of ["containsAny", "containsAll", "contains"]) {
    const pair = pairOf(tree, operator, context);
    if (pair === undefined) continue;
    const literals = new Set(pair.literals.map(keyOf));
    return `${pair.name} has ${named(pair.values.filter((value) => literals.has(keyOf(value))))}`;
  }
  return describeFlag(tree, context);
}

function operand(operation: unknown, name: "left" | "right" | "arg"): Tree | undefined {
  if (typeof operation !== "object" || operation === null) return undefined;
  const found: unknown = Reflect.get(operation, name);
  return typeof found === "object" && found !== null ? (found as Tree) : undefined;
}

/** Formats `context.command.heads` as people write it, without the leading `context`. */
function pathOf(expression: Tree | undefined): string | undefined {
  return stepsOf(expression)?.join(".");
}

function readPath(expression: Tree | undefined, context: JsonObject): JsonValue | undefined {
  const steps = stepsOf(expression);
  if (steps === undefined) return undefined;
  let value: JsonValue | undefined = context;
  for (const step of steps) value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

function stepsOf(expression: Tree | undefined): string[] | undefined {
  if (expression === undefined) return undefined;
  if (expression["Var"] === "context") return [];
  const access = expression["."];
  const attribute: unknown = typeof access === "object" && access !== null ? Reflect.get(access, "attr") : undefined;
  const before = stepsOf(operand(access, "left"));
  return before === undefined || typeof attribute !== "string" ? undefined : [...before, attribute];
}

function literalsOf(expression: Tree | undefined): JsonValue[] | undefined {
  const set = expression?.["Set"];
  if (!Array.isArray(set)) return undefined;
  const values = set.map((item) => literalOf(item as Tree));
  return values.every((value) => value !== undefined) ? values : undefined;
}

function literalOf(expression: Tree | undefined): JsonValue | undefined {
  const value = expression?.["Value"];
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
}

function keyOf(value: JsonValue): string {
  return JSON.stringify(value);
}

function named(values: readonly JsonValue[]): string {
  const shown = values
    .slice(0, MAX_NAMED)
    .map((value) => quoteText(typeof value === "string" ? value : JSON.stringify(value)));
  const more = values.length - shown.length;
  return `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
