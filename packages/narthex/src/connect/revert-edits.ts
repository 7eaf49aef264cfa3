import { isDeepStrictEqual } from "node:util";
import { findMember } from "./apply-edits.ts";
import type { AppliedEdit } from "./configuration-edit.ts";
import { removeEntry, replaceText } from "./jsonc-edit.ts";
import { type JsoncNode, type JsoncObject, parseJsonc, valueOf } from "./jsonc-tree.ts";

export interface RevertedText {
  readonly text: string;
  /** Values that were changed since, and so belong to the user now. */
  readonly conflicts: readonly string[];
}

/** Reverts applied edits, last first. Keeps everything that was changed since. */
export function revertEdits(text: string, applied: readonly AppliedEdit[]): RevertedText {
  let edited = text;
  const left: string[] = [];
  for (const edit of applied.toReversed()) {
    const next = revertEdit(edited, edit);
    if (next === undefined) left.push([...edit.at, ...("key" in edit ? [edit.key] : [])].join("."));
    else edited = next;
  }
  return { text: edited, conflicts: left };
}

/** Returns undefined if the value was changed since. */
function revertEdit(text: string, edit: AppliedEdit): string | undefined {
  const parent = follow(parseJsonc(text), edit.at);
  if (edit.kind === "element") {
    if (parent?.kind !== "array") return text;
    const index = parent.entries.findLastIndex((item) => isDeepStrictEqual(valueOf(item), edit.value));
    return index < 0 ? text : removeEntry(text, parent, index);
  }
  if (parent?.kind !== "object") return text;
  const current = findMember(parent, edit.key);
  if (current === undefined) return text;
  if (edit.kind === "container") return isEmptyContainer(text, current) ? removeMember(text, parent, edit.key) : text;
  if (!isDeepStrictEqual(valueOf(current), edit.value)) return undefined;
  return edit.previous === undefined ? removeMember(text, parent, edit.key) : replaceText(text, current, edit.previous);
}

function removeMember(text: string, object: JsoncObject, key: string): string {
  const index = object.entries.findLastIndex((member) => member.key === key);
  return removeEntry(text, object, index);
}

function follow(root: JsoncNode, at: readonly string[]): JsoncNode | undefined {
  let node: JsoncNode | undefined = root;
  for (const key of at) node = node?.kind === "object" ? findMember(node, key) : undefined;
  return node;
}

/** Whether a container holds nothing, not even a comment. */
function isEmptyContainer(text: string, node: JsoncNode): boolean {
  return node.kind !== "scalar" && text.slice(node.start + 1, node.end - 1).trim() === "";
}
