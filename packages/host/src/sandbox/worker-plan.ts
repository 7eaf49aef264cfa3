import { realpath } from "node:fs/promises";
import { reachableProgram } from "../bootstrap/reachable-program.ts";
import type { SandboxIdentity, ProcessLimits, SandboxMount, SandboxPlan } from "./sandbox-plan.ts";
import { currentIdentity } from "./workspace-identity.ts";

/** Where Node is for a worker. */
export const WORKER_NODE = "/opt/node/bin/node";

export interface WorkerParts {
  /** The folder with its program, and where the worker sees it. */
  readonly folder: string;
  readonly folderPath: string;
  readonly identity: SandboxIdentity;
  /** What it can take at once. It lives long and serves many calls, so its processor time is not limited. */
  readonly limits: Omit<ProcessLimits, "cpuMs">;
  /** What else it sees. */
  readonly mounts?: readonly SandboxMount[];
}

const MB = 1024 * 1024;
const NO_CPU_LIMIT_MS = 1_000_000_000;

/**
 * The sandbox of one of the kernel's own programs, which works for tools and is fed by others.
 *
 * SECURITY: nothing of the host is there but Node, the program and what is named; no network, no second process.
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

/** As whom a worker runs that has no workspace: never as root. */
export function workerIdentity(): SandboxIdentity {
  const { uid, gid, sandboxUid } = currentIdentity();
  return uid === 0 ? { uid: sandboxUid, gid: sandboxUid } : { uid, gid };
}
