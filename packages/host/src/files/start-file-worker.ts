import type { SandboxFiles, SandboxMachine } from "../sandbox/sandbox-machine.ts";
import { type SandboxIdentity, type SandboxPlan, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { type SandboxedProcess, spawnSandbox } from "../sandbox/spawn-sandbox.ts";
import { WORKER_NODE, workerPlan } from "../sandbox/worker-plan.ts";
import { findWorkerProgram } from "./worker-program.ts";

export interface WorkerPlace {
  readonly workspace: string;
  readonly access: "read" | "write";
  readonly identity: SandboxIdentity;
}

const FOLDER_PATH = "/opt/files-worker";
export const FILE_WORKER_COMMAND: readonly string[] = [WORKER_NODE, `${FOLDER_PATH}/files-worker.js`];

const MB = 1024 * 1024;

/** Limits of one worker, for all calls that it serves at the same time. */
const LIMITS = {
  memoryBytes: 1024 * MB,
  processes: 64,
  openFiles: 4096,
  fileBytes: 64 * 1024 * MB,
};

/** Starts the worker for the files of one workspace. */
export async function startFileWorker(
  machine: SandboxMachine,
  files: SandboxFiles,
  place: WorkerPlace,
): Promise<SandboxedProcess> {
  return await spawnSandbox(machine, files, await fileWorkerPlan(place), FILE_WORKER_COMMAND);
}

/** The sandbox contains the workspace and nothing else of the host. */
export async function fileWorkerPlan({ workspace, access, identity }: WorkerPlace): Promise<SandboxPlan> {
  return await workerPlan({
    folder: await findWorkerProgram(),
    folderPath: FOLDER_PATH,
    identity,
    limits: LIMITS,
    mounts: [{ source: workspace, target: WORKSPACE_PATH, access }],
  });
}
