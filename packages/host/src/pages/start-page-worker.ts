import type { Containment } from "../sandbox/open-containment.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { WORKER_NODE, workerIdentity, workerPlan } from "../sandbox/worker-plan.ts";
import { findPageProgram, PAGE_PROGRAM } from "./page-program.ts";

const FOLDER_PATH = "/opt/page-worker";
const MB = 1024 * 1024;
const HEAP_MB = 512;

/** Limits of a worker. Each page has a time limit of its own. */
const LIMITS = {
  memoryBytes: 1024 * MB,
  processes: 64,
  openFiles: 64,
  fileBytes: MB,
};

/** Starts the page worker. Throws SANDBOX_UNAVAILABLE where sandboxes are not available. */
export async function startPageWorker(containment: Containment, heapMb = HEAP_MB): Promise<ContainedProgram> {
  const folder = await findPageProgram();
  const plan = await workerPlan({ folder, folderPath: FOLDER_PATH, identity: workerIdentity(), limits: LIMITS });
  return await containment.start(plan, [
    WORKER_NODE,
    // Node aborts at this limit with an exit code of its own, so that it can be told from other faults.
    `--max-old-space-size=${heapMb}`,
    "--disallow-code-generation-from-strings",
    `${FOLDER_PATH}/${PAGE_PROGRAM}`,
  ]);
}
