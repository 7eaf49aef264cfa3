import type { Undoing, UndoneCall } from "../kernel.ts";
import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import type { EntryDraft } from "../ledger/record-draft.ts";
import { applyStep, type UndoPlace } from "./apply-step.ts";
import { planUndo } from "./plan-undo.ts";
import { type FileChangingCall, readFileChangingCalls } from "./file-changing-calls.ts";
import type { UndoStep } from "./undo-steps.ts";

const MAX_NAME = 256;

/** One undo at a time: no undo may change state that another one has checked. */
const latest = new WeakMap<KernelParts, Promise<unknown>>();

/**
 * Reverts changes by file tools, of one call or of a whole session from its last call to its first. Checks every path
 * first: if any is not as the calls left it, nothing is changed.
 */
export async function undo(undoing: Undoing, kernel: KernelParts): Promise<UndoneCall[]> {
  const mine = (latest.get(kernel) ?? Promise.resolve()).then(() => undoNow(undoing, kernel));
  latest.set(
    kernel,
    mine.catch(() => undefined),
  );
  kernel.counters.running++;
  try {
    return await mine;
  } finally {
    kernel.counters.running--;
  }
}

async function undoNow(undoing: Undoing, kernel: KernelParts): Promise<UndoneCall[]> {
  if (kernel.closing()) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
  const live = await kernel.sessions.find(undoing.sessionId);
  if (live === undefined)
    throw new KernelError("SESSION_UNKNOWN", "no session has this id; see `narthex session list`");
  const { files } = kernel;
  if (files === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no files to work on");
  const place = { files, workspace: live.session.workspace, labels: live.labels, kernel };
  const calls = chooseCalls(await readFileChangingCalls(undoing.sessionId, kernel), undoing.requestId);
  const planned = await planUndo(calls, place);
  const undone: UndoneCall[] = [];
  for (const { call, steps } of planned) {
    const undoneIndex = undoing.dryRun ? 0 : await undoCall(call, steps, undoing, place);
    const { requestId, recordIndex } = call;
    undone.push({ requestId, recordIndex, undoneIndex, changes: steps.map(toReportedChange) });
  }
  return undone;
}

/** Selects the calls to undo, the last one first. Throws NOTHING_TO_UNDO if none exist. */
function chooseCalls(recorded: readonly FileChangingCall[], requestId: string | undefined): FileChangingCall[] {
  const asked = requestId === undefined ? recorded : recorded.filter((call) => call.requestId === requestId);
  const open = asked.filter(({ undone }) => undone !== "done");
  if (open.length > 0) return open.toReversed();
  const subject = requestId === undefined ? "this session" : "this call";
  const message = asked.length > 0 ? `what ${subject} changed was undone already` : `${subject} changed no files`;
  throw new KernelError("NOTHING_TO_UNDO", message);
}

/**
 * Applies the steps of one call. A record is written before the first path changes and after the last one has changed.
 */
async function undoCall(
  call: FileChangingCall,
  steps: readonly UndoStep[],
  undoing: Undoing,
  place: UndoPlace,
): Promise<number> {
  const { requestId, recordIndex } = call;
  const { sessionId: chain } = undoing;
  const by = undoing.by.slice(0, MAX_NAME).toWellFormed();
  const { kernel, workspace } = place;
  // SECURITY: restored content carries the labels of the session that had it, even if the workspace's labels were
  // cleared since.
  const labelling = kernel.workspaceLabels.join(workspace, place.labels);
  const record = async (done: boolean): Promise<number> => {
    const value = { requestId, recordIndex, by, done, paths: call.changes.length };
    const entries: EntryDraft[] = [{ case: "changesUndone", value }];
    if (done || labelling === undefined) return (await kernel.ledger.append({ chain, entries })).index;
    const { index } = await kernel.ledger.append({
      chain,
      entries: [labelling.entry, ...entries],
      state: () => [labelling.row()],
    });
    labelling.noteDurable();
    return index;
  };
  await record(false);
  for (const step of steps) await applyStep(step, place);
  return await record(true);
}

function toReportedChange(step: UndoStep): UndoneCall["changes"][number] {
  if (step.kind === "move") return { path: step.to, action: "moved_back" };
  return { path: step.path, action: step.before.kind === "absent" ? "removed" : "restored" };
}
