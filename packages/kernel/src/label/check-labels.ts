import { KernelError, type Violation } from "@narthex/contracts";
import { createJsonReader } from "../capability/json-reader.ts";
import { joinLabels } from "./join-labels.ts";

const LABEL = /^[a-z][a-z0-9_-]{0,63}$/;
const MAX_GIVEN = 16;
/**
 * Maximum number of labels. Every reader takes on all labels of what it reads, so no session may create thousands of
 * them.
 */
const MAX_LABELS = 64;

export function isLabel(text: unknown): boolean {
  return typeof text === "string" && LABEL.test(text);
}

/**
 * Finds every problem with labels that are added to content or a session that already has `present`; empty if there is
 * none.
 */
export function findLabelProblems(added: readonly string[], present: readonly string[]): readonly Violation[] {
  const reader = createJsonReader();
  reader.list([...added], "labels", MAX_GIVEN, (label, field) =>
    isLabel(label)
      ? label
      : reader.refuse(field, "format", "must be at most 64 lower-case letters, digits, `_` and `-`, a letter first"),
  );
  if (reader.violations.length > 0) return reader.violations;
  const joined = joinLabels(present, added);
  if (joined !== present && joined.length > MAX_LABELS) {
    reader.refuse("labels", "max_items", `would make more than ${MAX_LABELS} labels on one session`);
  }
  return reader.violations;
}

/** Throws INVALID_INPUT unless a session with the labels `present` may add these labels. */
export function checkLabels(added: readonly string[], present: readonly string[]): void {
  const violations = findLabelProblems(added, present);
  const [first] = violations;
  if (first === undefined) return;
  throw new KernelError("INVALID_INPUT", `\`${first.field}\` ${first.message}`, { violations });
}
