import { realpath } from "node:fs/promises";
import { WASM_MEMORY_CEILING } from "@narthex/kernel";
import { reachableProgram } from "../bootstrap/reachable-program.ts";
import type { Containment } from "../sandbox/open-containment.ts";
import type { SandboxPlan } from "../sandbox/sandbox-plan.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { currentIdentity } from "../sandbox/workspace-identity.ts";
import { findWasmProgram, WASM_PROGRAM } from "./wasm-program.ts";

const NODE_PATH = "/opt/node/bin/node";
const FOLDER_PATH = "/opt/wasm-host";
const MB = 1024 * 1024;

/** Starts the program that runs modules. Throws SANDBOX_UNAVAILABLE where nothing can be contained. */
export async function startWasmHost(
  containment: Containment,
  findProgram: () => Promise<string> = findWasmProgram,
): Promise<ContainedProgram> {
  return await containment.start(await wasmHostPlan(await findProgram()), [
    NODE_PATH,
    "--disallow-code-generation-from-strings",
    `${FOLDER_PATH}/${WASM_PROGRAM}`,
  ]);
}

/** SECURITY: nothing of the host is there but Node and the program; no files, no network, no second process. */
async function wasmHostPlan(folder: string): Promise<SandboxPlan> {
  const { uid, gid, sandboxUid } = currentIdentity();
  const identity = uid === 0 ? { uid: sandboxUid, gid: sandboxUid } : { uid, gid };
  return {
    mounts: [
      { source: await reachableProgram(await realpath(process.execPath), identity), target: NODE_PATH, access: "read" },
      { source: await reachableProgram(folder, identity), target: FOLDER_PATH, access: "read" },
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

/** A host runs many calls, each against its own clock and fuel: its processor time is not limited. */
const LIMITS = {
  cpuMs: 1_000_000_000,
  // What modules may have together, as much again that is gone and not collected, and the host's own.
  memoryBytes: 2 * WASM_MEMORY_CEILING + 1024 * MB,
  processes: 128,
  openFiles: 64,
  fileBytes: MB,
};
