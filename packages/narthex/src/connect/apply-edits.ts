import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "@narthex/contracts";
import {
  type AppliedEdit,
  type ConfigurationEdit,
  EditProblem,
  type ElementEdit,
  type MemberEdit,
} from "./configuration-edit.ts";
import { insertElement, insertMember, removeEntry, replaceValue } from "./jsonc-edit.ts";
import { type JsoncArray, type JsoncNode, type JsoncObject, parseJsonc, valueOf } from "./jsonc-tree.ts";

export interface EditedText {
  readonly text: string;
  readonly applied: readonly AppliedEdit[];
}

/** Applies edits to a text and changes nothing else. Values that are already there are not added again. */
export function applyEdits(text: string, edits: readonly ConfigurationEdit[]): EditedText {
  // Applies each edit to the original text first, so that an error reports its position there.
  for (const edit of edits) applyEdit(text, edit);
  let edited: EditedText = { text, applied: [] };
  for (const edit of edits) {
    const next = applyEdit(edited.text, edit);
    edited = { text: next.text, applied: [...edited.applied, ...next.applied] };
  }
  return edited;
}

function applyEdit(text: string, edit: ConfigurationEdit): EditedText {
  return edit.kind === "member" ? applyMember(text, edit) : applyElement(text, edit);
}

/** Returns the member that counts for a key (the last one), if there is one. */
export function findMember(object: JsoncObject, key: string): JsoncNode | undefined {
  return object.entries.findLast((member) => member.key === key)?.value;
}

function applyMember(text: string, edit: MemberEdit): EditedText {
  const way = resolveContainer(text, edit.at, "object");
  const current = findMember(way.object, edit.key);
  const { at, key, value } = edit;
  if (current === undefined) {
    if (edit.onlyReplaces === true) return { text, applied: [] };
    return {
      text: insertMember(way.text, way.object, key, value),
      applied: [...way.applied, { kind: "member", at, key, value }],
    };
  }
  const found = valueOf(current);
  if (isDeepStrictEqual(found, value)) return { text, applied: [] };
  if (!edit.mayReplace(found)) {
    throw new EditProblem(current.start, `\`${[...at, key].join(".")}\` is not narthex's; rename or remove it`);
  }
  const previous = way.text.slice(current.start, current.end);
  return { text: replaceValue(way.text, current, value), applied: [{ kind: "member", at, key, value, previous }] };
}

function applyElement(text: string, edit: ElementEdit): EditedText {
  const { at, value, replaces } = edit;
  const opened = resolveContainer(text, at, "array");
  let list = opened.list;
  let edited = opened.text;
  for (;;) {
    const values = list.entries.map(valueOf);
    const stale = values.findIndex((item) => !isDeepStrictEqual(item, value) && replaces?.(item) === true);
    if (stale < 0) {
      if (values.some((item) => isDeepStrictEqual(item, value))) return { text: edited, applied: opened.applied };
      const applied = [...opened.applied, { kind: "element", at, value } as const];
      return { text: insertElement(edited, list, value), applied };
    }
    edited = removeEntry(edited, list, stale);
    list = resolveContainer(edited, at, "array").list;
  }
}

interface ResolvedObject extends EditedText {
  readonly object: JsoncObject;
}

interface ResolvedList extends EditedText {
  readonly list: JsoncArray;
}

/** Follows the keys and creates the containers that are missing. */
function resolveContainer(text: string, at: readonly string[], kind: "object"): ResolvedObject;
function resolveContainer(text: string, at: readonly string[], kind: "array"): ResolvedList;
function resolveContainer(
  text: string,
  at: readonly string[],
  kind: "object" | "array",
): ResolvedObject | ResolvedList {
  const root = parseJsonc(text);
  let node: JsoncNode = root;
  for (const [index, key] of at.entries()) {
    const above = at.slice(0, index);
    const object = requireObject(node, above);
    const found = findMember(object, key);
    if (found === undefined) {
      const empty: JsonValue = index === at.length - 1 && kind === "array" ? [] : {};
      const made = insertMember(text, object, key, empty);
      const rest = kind === "object" ? resolveContainer(made, at, "object") : resolveContainer(made, at, "array");
      return { ...rest, applied: [{ kind: "container", at: above, key }, ...rest.applied] };
    }
    node = found;
  }
  if (kind === "object") return { text, applied: [], object: requireObject(node, at) };
  if (node.kind !== "array") throw new EditProblem(node.start, `\`${at.join(".")}\` is no list`);
  return { text, applied: [], list: node };
}

function requireObject(node: JsoncNode, at: readonly string[]): JsoncObject {
  if (node.kind === "object") return node;
  throw new EditProblem(node.start, `${at.length === 0 ? "the file's value" : `\`${at.join(".")}\``} is no object`);
}
