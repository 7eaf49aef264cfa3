import { WASM_MEMORY_CEILING } from "@narthex/kernel";
import type { Containment } from "../sandbox/open-containment.ts";
import type { ContainedProgram } from "../sandbox/start-contained.ts";
import { WORKER_NODE, workerIdentity, workerPlan } from "../sandbox/worker-plan.ts";
import { findWasmProgram, WASM_PROGRAM } from "./wasm-program.ts";

const FOLDER_PATH = "/opt/wasm-host";
const MB = 1024 * 1024;

/** Limits of a host. Each call that it runs has its own time and fuel limits. */
const LIMITS = {
  // Total memory of modules, the same again for garbage that is not yet collected, and the host itself.
  memoryBytes: 2 * WASM_MEMORY_CEILING + 1024 * MB,
  processes: 128,
  openFiles: 64,
  fileBytes: MB,
};

/** Starts the program that runs modules. Throws SANDBOX_UNAVAILABLE where sandboxes are not available. */
export async function startWasmHost(
  containment: Containment,
  findProgram: () => Promise<string> = findWasmProgram,
): Promise<ContainedProgram> {
  const folder = await findProgram();
  const plan = await workerPlan({ folder, folderPath: FOLDER_PATH, identity: workerIdentity(), limits: LIMITS });
  return await containment.start(plan, [
    WORKER_NODE,
    "--disallow-code-generation-from-strings",
    `${FOLDER_PATH}/${WASM_PROGRAM}`,
  ]);
}
