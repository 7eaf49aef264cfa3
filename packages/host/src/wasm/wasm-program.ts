import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

/** File name of the host program in the folder that `findWasmProgram` returns. */
export const WASM_PROGRAM = "wasm-host.mjs";

let stripped: Promise<string> | undefined;

/**
 * Returns the folder with the wasm host's program. A published package ships it; from sources it is built once per
 * process.
 */
export function findWasmProgram(): Promise<string> {
  if (!import.meta.url.endsWith(".ts")) {
    return Promise.resolve(fileURLToPath(new URL("./wasm-host/", import.meta.url)));
  }
  stripped ??= stripProgram().catch((fault: unknown) => {
    stripped = undefined;
    throw fault;
  });
  return stripped;
}

/** SECURITY: readable by the user that hosts run as, writable only by the kernel's user. */
async function stripProgram(): Promise<string> {
  const to = await mkdtemp(join(tmpdir(), "narthex-wasm-host-"));
  process.once("exit", () => tryToRemoveOwnTree(to));
  await chmod(to, 0o755);
  const thread = new Worker(new URL("./strip-wasm-thread.ts", import.meta.url), {
    workerData: { to },
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  await once(thread, "exit");
  return to;
}
