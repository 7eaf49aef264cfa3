import {
  blake3,
  canonicalJsonBytes,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  KernelError,
} from "@narthex/contracts";
import { ownField } from "../../capability/json-reader.ts";
import type { CedarRequest } from "../cedar/cedar.ts";
import { EMPTY_RECORD, type RecordShape } from "./cedar-shape.ts";
import { projectInput } from "./project-input.ts";
import { recordFromCedar } from "./shape-from-cedar.ts";

/** The schema that rules are validated against, with the shapes of requests derived from it. */
export interface PolicySchema {
  /** Cedar's JSON schema form. */
  readonly json: JsonObject;
  /** Its canonical JSON: content under `hash`. */
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
  /** All ids that a rule can name after `Action::`, groups included, sorted. */
  readonly actions: readonly string[];
  /** The groups that contain an action, after the action itself. */
  groupsOf(action: string): readonly string[];
  /** The context of requests for an action. Empty for a group, because requests never name one. */
  contextOf(action: string): RecordShape;
  /**
   * The part of an input that rules about this action can see. Throws POLICY_ERROR if a value that they rely on is
   * missing.
   */
  visibleInput(action: string, input: JsonValue): JsonObject;
  /** The part of a whole context that rules about this action can see. */
  visibleContext(action: string, context: JsonObject): JsonObject;
  /** The first required context attribute that the request lacks. */
  findMissing(request: Pick<CedarRequest, "action" | "context">): string | undefined;
}

interface ActionFacts {
  readonly context: RecordShape;
  readonly input: RecordShape;
  readonly groups: readonly string[];
  readonly required: readonly string[];
}

/** Reads a schema from its JSON, as built by `policySchema` or as stored. Throws POLICY_INVALID for any other JSON. */
export function readPolicySchema(json: JsonValue): PolicySchema {
  if (!isJsonObject(json)) throw unreadable();
  const namespace = member(json, "");
  const commonTypes = member(namespace, "commonTypes");
  const facts = new Map<string, ActionFacts>();
  for (const [name, action] of Object.entries(member(namespace, "actions"))) {
    facts.set(name, readAction(name, isJsonObject(action) ? action : {}, commonTypes));
  }
  const bytes = canonicalJsonBytes(json);
  const contextOf = (action: string): RecordShape => facts.get(action)?.context ?? EMPTY_RECORD;
  return {
    json,
    bytes,
    hash: blake3(bytes),
    actions: [...facts.keys()].sort(),
    contextOf,
    groupsOf: (action) => facts.get(action)?.groups ?? [action],
    visibleInput: (action, input) => projectInput(input, facts.get(action)?.input ?? EMPTY_RECORD),
    visibleContext: (action, context) => projectInput(context, contextOf(action)),
    findMissing({ action, context }) {
      const known = action.type === "Action" ? facts.get(action.id) : undefined;
      return known === undefined ? "action" : known.required.find((name) => !Object.hasOwn(context, name));
    },
  };
}

function readAction(name: string, action: JsonObject, commonTypes: JsonObject): ActionFacts {
  const applies = ownField(action, "appliesTo");
  const context = isJsonObject(applies) ? recordFromCedar(ownField(applies, "context"), commonTypes) : EMPTY_RECORD;
  const input = context.attributes.find((attribute) => attribute.name === "input")?.shape;
  const parents = ownField(action, "memberOf");
  const groups = Array.isArray(parents) ? parents.map((parent) => (isJsonObject(parent) ? parent["id"] : "")) : [];
  return {
    context,
    input: input?.kind === "record" ? input : EMPTY_RECORD,
    groups: [name, ...groups.filter((group) => typeof group === "string")],
    required: context.attributes.filter((attribute) => attribute.required).map((attribute) => attribute.name),
  };
}

function member(object: JsonObject, name: string): JsonObject {
  const value = ownField(object, name);
  if (value === undefined || !isJsonObject(value)) throw unreadable();
  return value;
}

function unreadable(): KernelError {
  return new KernelError("POLICY_INVALID", "this is not a schema that Narthex wrote");
}
