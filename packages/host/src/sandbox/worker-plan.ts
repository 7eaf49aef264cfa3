import { realpath } from "node:fs/promises";
import { reachableProgram } from "../bootstrap/reachable-program.ts";
import type { SandboxIdentity, ProcessLimits, SandboxMount, SandboxPlan } from "./sandbox-plan.ts";
import { currentIdentity } from "./workspace-identity.ts";

/** Path of Node inside a worker's sandbox. */
export const WORKER_NODE = "/opt/node/bin/node";

export interface WorkerParts {
  /** Folder with the worker's program on the host; `folderPath` is its path inside. */
  readonly folder: string;
  readonly folderPath: string;
  readonly identity: SandboxIdentity;
  /** Limits at any one time. A worker lives long and serves many calls, so its CPU time is not limited. */
  readonly limits: Omit<ProcessLimits, "cpuMs">;
  /** Further mounts. */
  readonly mounts?: readonly SandboxMount[];
}

const MB = 1024 * 1024;
const NO_CPU_LIMIT_MS = 1_000_000_000;

/**
 * Plans the sandbox of one of the kernel's own worker programs, which processes untrusted data for tools.
 *
 * SECURITY: it contains nothing of the host but Node, the program and the given mounts; no network, no second process.
 */
export async function workerPlan({
  folder,
  folderPath,
  identity,
  limits,
  mounts = [],
}: WorkerParts): Promise<SandboxPlan> {
  const node = await reachableProgram(await realpath(process.execPath), identity);
  return {
    mounts: [
      { source: node, target: WORKER_NODE, access: "read" },
      { source: await reachableProgram(folder, identity), target: folderPath, access: "read" },
      ...mounts,
    ],
    symlinks: [],
    environment: { NODE_NO_WARNINGS: "1" },
    workingDirectory: "/",
    limits: { ...limits, cpuMs: NO_CPU_LIMIT_MS },
    temporaryBytes: MB,
    socketFamilies: [],
    mayFork: false,
    identity,
  };
}

/** Returns the user of a worker without a workspace: never root. */
export function workerIdentity(): SandboxIdentity {
  const { uid, gid, sandboxUid } = currentIdentity();
  return uid === 0 ? { uid: sandboxUid, gid: sandboxUid } : { uid, gid };
}
