import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { UnsafeWorkspace } from "@narthex/kernel";
import { encodeRecord, recordName } from "../programs/guard-record.ts";
import { DurableDirectory } from "../home/durable-directory.ts";
import { readUnfinished } from "../programs/guard-records.ts";

/** Lists the workspaces of a home in which no program is started. Only reads files, so it can run beside a kernel. */
export async function findUnsafeWorkspaces(guards: string): Promise<UnsafeWorkspace[]> {
  const unfinished = await readUnfinished(guards);
  return unfinished
    .filter(({ problem, record }) => problem !== "" && (record?.acceptedBy ?? "") === "")
    .map(({ workspace, problem }) => ({ workspace, problem }));
}

/**
 * Records that a person accepts an unsafe workspace in its current state: the kernel lets programs run there again,
 * records who accepted it, and treats all files there as the user's own. Throws WORKSPACE_REFUSED unless the workspace
 * is unsafe.
 */
export async function acceptWorkspace(
  guards: string,
  named: string,
  by: string,
): Promise<{ readonly workspace: string }> {
  const workspace = await realpath(named).catch(() => resolve(named));
  const name = recordName(workspace);
  const found = (await readUnfinished(guards)).find((unfinished) => unfinished.name === name);
  if (found === undefined || found.problem === "") {
    throw new KernelError(
      "WORKSPACE_REFUSED",
      `there is nothing to accept: \`${workspace}\` is not among the unsafe workspaces of this home`,
    );
  }
  const { problem, record = { workspace, sessions: [], scans: [], problem } } = found;
  const directory = new DurableDirectory(guards);
  try {
    await directory.write(name, encodeRecord({ ...record, acceptedBy: by }));
  } finally {
    await directory.close();
  }
  return { workspace };
}
