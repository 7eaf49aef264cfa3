import { type JsonObject, KernelError } from "@narthex/contracts";
import { quoteText } from "../../capability/quote-text.ts";
import type { ToolDeclaration } from "../../tool/tool.ts";
import { PROTECTED_ACTION } from "../protected-action.ts";
import { EMPTY_RECORD, type RecordShape } from "./cedar-shape.ts";
import { intersectRecords } from "./intersect-shapes.ts";
import { CONTEXT_NAMES, contextShape, PROTECTED_CONTEXT } from "./context-shape.ts";
import { entityTypes } from "./entity-types.ts";
import { type PolicySchema, readPolicySchema } from "./read-policy-schema.ts";
import { shapeFromJsonSchema } from "./shape-from-json-schema.ts";
import { shapeToCedar } from "./shape-to-cedar.ts";

/** The properties of one tool version that the schema is built from. */
export interface PolicyTool {
  readonly declaration: Pick<ToolDeclaration, "name" | "inputSchema" | "capabilities">;
  /** Actions of its calls, if different from the tool's name; the name is then a group of them all. */
  readonly actions?: readonly string[] | undefined;
  /** JSON Schema of an object whose properties are added to the context. */
  readonly facts?: JsonObject | undefined;
}

/**
 * Builds the schema that rules are validated against. INVARIANT: the same tools, in any order, produce the same bytes.
 */
export function policySchema(tools: readonly PolicyTool[]): PolicySchema {
  const commonTypes: JsonObject = { [contextName(PROTECTED_ACTION)]: shapeToCedar(PROTECTED_CONTEXT) };
  const actions = new Map<string, JsonObject>([[PROTECTED_ACTION, appliesTo(PROTECTED_ACTION)]]);
  for (const [name, versions] of Map.groupBy(tools, ({ declaration }) => declaration.name)) {
    commonTypes[contextName(name)] = shapeToCedar(contextOf(versions));
    for (const [action, type] of actionsOf(name, versions)) {
      if (actions.has(action)) throw taken(action);
      actions.set(action, type);
    }
  }
  return readPolicySchema({ "": { actions: Object.fromEntries(actions), commonTypes, entityTypes: entityTypes() } });
}

function contextOf(versions: readonly PolicyTool[]): RecordShape {
  const input = versions
    .map(({ declaration }) => shapeFromJsonSchema(declaration.inputSchema))
    .reduce(intersectRecords);
  const facts = versions.map(factsOf).reduce(intersectRecords);
  return contextShape(
    versions.map(({ declaration }) => declaration),
    input,
    facts,
  );
}

function factsOf({ declaration, facts }: PolicyTool): RecordShape {
  const shape = facts === undefined ? EMPTY_RECORD : shapeFromJsonSchema(facts);
  const clash = shape.attributes.find(({ name }) => CONTEXT_NAMES.has(name));
  if (clash === undefined) return shape;
  const names = `${quoteText(declaration.name)} derives ${quoteText(clash.name)}`;
  throw new KernelError("INVALID_DECLARATION", `${names}, which the kernel itself tells rules: choose another name`);
}

/** The actions of a tool, its own name last: an action if it has no other actions, otherwise the group of them. */
function actionsOf(name: string, versions: readonly PolicyTool[]): [action: string, type: JsonObject][] {
  const several = new Set(versions.flatMap(({ actions = [] }) => actions));
  const isAlone = versions.some(({ actions = [] }) => actions.length === 0) || several.delete(name);
  const members = [...several].map((action): [string, JsonObject] => [
    action,
    { ...appliesTo(name), memberOf: [{ id: name }] },
  ]);
  return [...members, [name, isAlone ? appliesTo(name) : {}]];
}

function appliesTo(context: string): JsonObject {
  return {
    appliesTo: { principalTypes: ["Agent"], resourceTypes: ["Workspace"], context: { type: contextName(context) } },
  };
}

/**
 * Tool names consist of lowercase letters, digits and `_`, so these names collide neither with each other nor with a
 * Cedar type.
 */
function contextName(tool: string): string {
  return `Context_${tool}`;
}

function taken(action: string): KernelError {
  return new KernelError("ALREADY_REGISTERED", `two tools go by the action ${quoteText(action)}: rename one of them`);
}
