import { realpath } from "node:fs/promises";
import { reachableProgram } from "../bootstrap/reachable-program.ts";
import type { Containment } from "../sandbox/open-containment.ts";
import type { SandboxPlan } from "../sandbox/sandbox-plan.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { currentIdentity } from "../sandbox/workspace-identity.ts";
import { findPageProgram, PAGE_PROGRAM } from "./page-program.ts";

const NODE_PATH = "/opt/node/bin/node";
const FOLDER_PATH = "/opt/page-worker";
const MB = 1024 * 1024;
const HEAP_MB = 512;

/** Starts the program that reads pages. Throws SANDBOX_UNAVAILABLE where nothing can be contained. */
export async function startPageWorker(containment: Containment, heapMb = HEAP_MB): Promise<ContainedProgram> {
  return await containment.start(await pageWorkerPlan(), [
    NODE_PATH,
    // Node ends itself when this is reached, so that it can be told from a fault.
    `--max-old-space-size=${heapMb}`,
    "--disallow-code-generation-from-strings",
    `${FOLDER_PATH}/${PAGE_PROGRAM}`,
  ]);
}

/** SECURITY: nothing of the host is there but Node and the program; no network, no second process. */
async function pageWorkerPlan(): Promise<SandboxPlan> {
  const { uid, gid, sandboxUid } = currentIdentity();
  const identity = uid === 0 ? { uid: sandboxUid, gid: sandboxUid } : { uid, gid };
  return {
    mounts: [
      { source: await reachableProgram(await realpath(process.execPath), identity), target: NODE_PATH, access: "read" },
      { source: await reachableProgram(await findPageProgram(), identity), target: FOLDER_PATH, access: "read" },
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

/** A worker reads many pages, each against its own clock: its processor time is not limited. */
const LIMITS = {
  cpuMs: 1_000_000_000,
  memoryBytes: 1024 * MB,
  processes: 64,
  openFiles: 64,
  fileBytes: MB,
};
