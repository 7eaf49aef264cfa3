import { realpath } from "node:fs/promises";
import type { SandboxFiles, SandboxMachine } from "../sandbox/sandbox-machine.ts";
import { type SandboxIdentity, type SandboxPlan, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { type SandboxedProcess, spawnSandbox } from "../sandbox/spawn-sandbox.ts";
import { reachableProgram } from "../bootstrap/reachable-program.ts";
import { findWorkerProgram } from "./worker-program.ts";

export interface WorkerPlace {
  readonly workspace: string;
  readonly access: "read" | "write";
  readonly identity: SandboxIdentity;
}

const NODE_PATH = "/opt/node/bin/node";
const FOLDER_PATH = "/opt/files-worker";
export const FILE_WORKER_COMMAND: readonly string[] = [NODE_PATH, `${FOLDER_PATH}/files-worker.js`];

const MB = 1024 * 1024;

/** Starts the program that works on one workspace's files. */
export async function startFileWorker(
  machine: SandboxMachine,
  files: SandboxFiles,
  place: WorkerPlace,
): Promise<SandboxedProcess> {
  return await spawnSandbox(machine, files, await fileWorkerPlan(place), FILE_WORKER_COMMAND);
}

/** Nothing of the host is there but the workspace and what the program needs to run. */
export async function fileWorkerPlan({ workspace, access, identity }: WorkerPlace): Promise<SandboxPlan> {
  return {
    mounts: [
      { source: await reachableProgram(await realpath(process.execPath), identity), target: NODE_PATH, access: "read" },
      { source: await reachableProgram(await findWorkerProgram(), identity), target: FOLDER_PATH, access: "read" },
      { source: workspace, target: WORKSPACE_PATH, access },
    ],
    symlinks: [],
    environment: { NODE_NO_WARNINGS: "1" },
    workingDirectory: "/",
    limits: LIMITS,
    temporaryBytes: MB,
    socketFamilies: [],
    mayFork: false,
    identity,
  };
}

/** A worker lives long and serves many calls: its processor time is not limited, what it can take at once is. */
const LIMITS = {
  cpuMs: 1_000_000_000,
  memoryBytes: 1024 * MB,
  processes: 64,
  openFiles: 4096,
  fileBytes: 64 * 1024 * MB,
};
