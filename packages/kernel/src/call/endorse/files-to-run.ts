import { isKernelError } from "@narthex/contracts";
import { ABSENT, type ApprovedFile, UNKNOWN } from "../../approval/approved-files.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { WorkspaceFiles, WorkspaceMount } from "../../workspace-files.ts";
import type { PermittedCall } from "../decide/decide.ts";

const MAX_FILES = 32;
/** Maximum number of links in a row. */
const MAX_LINKS = 4;

/**
 * Returns the files of the workspace that a call would run, in their current state.
 *
 * SECURITY: they are inspected when a user is asked and once more before the call runs, and programs in the same
 * workspace can change one between that and its start. This stops an agent that changes a file after it was approved,
 * not a program that runs at the same time.
 */
export async function filesToRun(call: PermittedCall, { files }: KernelParts): Promise<readonly ApprovedFile[]> {
  const { live, registered, input, trail } = call;
  const paths = registered.tool.approvalFiles?.(input, live.toolSession) ?? [];
  if (paths.length === 0 || files === undefined) return [];
  const place: WorkspaceMount = { workspace: live.session.workspace, access: "read" };
  const signal = trail.running?.signal ?? new AbortController().signal;
  const chosen = [...new Set(paths)].sort();
  // SECURITY: a file that is left out would not be bound. The state `UNKNOWN` rules out standing approvals of a call
  // with more files.
  if (chosen.length > MAX_FILES) return [{ path: `${chosen.length} files`, state: UNKNOWN }];
  return Promise.all(chosen.map(async (path) => ({ path, state: await stateOf(path, { files, place, signal }) })));
}

interface Place {
  readonly files: WorkspaceFiles;
  readonly place: WorkspaceMount;
  readonly signal: AbortSignal;
}

async function stateOf(path: string, at: Place, links = 0): Promise<string> {
  try {
    const answer = await (await at.files.prepare(at.place, { kind: "inspect", path }, at.signal)).commit();
    if (answer.kind !== "inspect") return UNKNOWN;
    const { state } = answer;
    if (state.kind === "file") return state.hash;
    if (state.kind !== "link") return state.kind;
    if (state.target.startsWith("/") || links === MAX_LINKS) return UNKNOWN;
    const target = [...path.split("/").slice(0, -1), state.target].join("/");
    return `${state.target} ${await stateOf(target, at, links + 1)}`;
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    return fault.code === "FILE_NOT_FOUND" ? ABSENT : UNKNOWN;
  }
}
