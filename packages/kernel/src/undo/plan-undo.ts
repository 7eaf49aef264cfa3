import { KernelError } from "@narthex/contracts";
import { findEarlierContent, type UndoPlace } from "./apply-step.ts";
import type { FileChangingCall } from "./file-changing-calls.ts";
import { isSameState, type UndoStep, undoSteps } from "./undo-steps.ts";
import { VirtualTree } from "./virtual-tree.ts";

const MAX_NAMED = 20;

/**
 * Plans the steps for each call, in the given order. Throws UNDO_CONFLICT with the paths that changed in any other way
 * since. Steps that an interrupted undo has already done are left out.
 */
export async function planUndo(
  calls: readonly FileChangingCall[],
  place: UndoPlace,
): Promise<{ readonly call: FileChangingCall; readonly steps: readonly UndoStep[] }[]> {
  const tree = new VirtualTree(place);
  const conflicts = new Set<string>();
  const planned: { readonly call: FileChangingCall; readonly steps: readonly UndoStep[] }[] = [];
  for (const call of calls) {
    const steps: UndoStep[] = [];
    for (const step of undoSteps(call.changes)) {
      const conflict = await tryStep(step, tree);
      if (conflict === undefined) {
        if (step.kind === "restore" && step.before.kind === "file") {
          await findEarlierContent(step.before.hash, step.path, place.kernel);
        }
        steps.push(step);
      } else if (call.undone !== "begun" || !(await isDone(step, tree))) conflicts.add(conflict);
    }
    planned.push({ call, steps });
  }
  if (conflicts.size > 0) throw conflictError([...conflicts]);
  return planned;
}

/**
 * Applies a step to the tree; returns the conflicting path if its state is not as the call left it. A conflicting step
 * is not applied.
 */
async function tryStep(step: UndoStep, tree: VirtualTree): Promise<string | undefined> {
  if (step.kind === "move") return await tryMove(step, tree);
  const { path, expected, before } = step;
  const isExpected = isSameState(await tree.stateAt(path), expected);
  const inside =
    isExpected && before.kind !== "directory" && expected.kind === "directory" ? await tree.firstIn(path) : undefined;
  if (isExpected && inside === undefined) tree.set(path, before);
  return isExpected ? inside : path;
}

async function tryMove(
  { from, to, state }: Extract<UndoStep, { kind: "move" }>,
  tree: VirtualTree,
): Promise<string | undefined> {
  if (!isSameState(await tree.stateAt(from), state)) return from;
  if ((await tree.stateAt(to)).kind !== "absent") return to;
  tree.move(from, to, state);
  return undefined;
}

async function isDone(step: UndoStep, tree: VirtualTree): Promise<boolean> {
  if (step.kind === "restore") return isSameState(await tree.stateAt(step.path), step.before);
  return isSameState(await tree.stateAt(step.to), step.state);
}

function conflictError(paths: readonly string[]): KernelError {
  const named = paths.slice(0, MAX_NAMED).map((path) => `\`${path.slice(0, 200)}\``);
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : "";
  return new KernelError("UNDO_CONFLICT", `changed since, so nothing was undone: ${named.join(", ")}${more}`, {
    violations: paths.slice(0, MAX_NAMED).map((path) => ({
      field: path.slice(0, 200),
      rule: "unchanged",
      message: "it is not as the call left it",
    })),
  });
}
