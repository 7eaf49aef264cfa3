import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

/** In the folder that is found here, whether it was published or made of sources. */
export const WASM_PROGRAM = "wasm-host.mjs";

let stripped: Promise<string> | undefined;

/** The folder with the program of wasm hosts. A published package has it as one file; of sources it is made once. */
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

/** SECURITY: whoever the hosts run as must be able to read it, and nobody but the kernel's user to write it. */
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
