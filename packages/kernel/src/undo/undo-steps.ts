import type { FileChange, FileState } from "../workspace-files.ts";

/** One step that reverts part of what a call changed. */
export type UndoStep =
  | { readonly kind: "restore"; readonly path: string; readonly expected: FileState; readonly before: FileState }
  | { readonly kind: "move"; readonly from: string; readonly to: string; readonly state: FileState };

const ABSENT: FileState = { kind: "absent" };

/**
 * Plans how to revert changes: moved entries are moved back with everything in them; then created paths are removed
 * from the last to the first; then removed and replaced ones are restored from the first to the last.
 */
export function undoSteps(changes: readonly FileChange[]): UndoStep[] {
  const [source, destination] = changes.slice(-2);
  const steps: UndoStep[] = [];
  let rest = changes;
  if (source !== undefined && destination !== undefined && isMove(source, destination)) {
    steps.push({ kind: "move", from: destination.path, to: source.path, state: source.before });
    const replaced = destination.before.kind === "absent" ? [] : [{ ...destination, after: ABSENT }];
    rest = [...changes.slice(0, -2), ...replaced];
  }
  const restore = ({ path, before, after }: FileChange): UndoStep => ({
    kind: "restore",
    path,
    expected: after,
    before,
  });
  const made = rest.filter(({ before }) => before.kind === "absent");
  const others = rest.filter(({ before }) => before.kind !== "absent");
  return [...steps, ...made.toReversed().map(restore), ...others.map(restore)];
}

/** A move removes an entry from one place, and the same entry is at another. */
function isMove(source: FileChange, destination: FileChange): boolean {
  return (
    source.before.kind !== "absent" && source.after.kind === "absent" && isSameState(source.before, destination.after)
  );
}

export function isSameState(one: FileState, other: FileState): boolean {
  switch (one.kind) {
    case "absent":
      return other.kind === "absent";
    case "file":
      return other.kind === "file" && one.hash === other.hash && one.mode === other.mode;
    case "directory":
      return other.kind === "directory" && one.mode === other.mode;
    case "link":
      return other.kind === "link" && one.target === other.target;
    case "other":
      return false;
  }
}
