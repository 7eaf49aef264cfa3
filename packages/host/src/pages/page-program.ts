import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

/** File name of the worker program in the folder that `findPageProgram` returns. */
export const PAGE_PROGRAM = "page-worker.mjs";

let stripped: Promise<string> | undefined;

/**
 * Returns the folder with the page worker's program. A published package ships it; from sources it is built once per
 * process.
 */
export function findPageProgram(): Promise<string> {
  if (!import.meta.url.endsWith(".ts")) {
    return Promise.resolve(fileURLToPath(new URL("./page-worker/", import.meta.url)));
  }
  stripped ??= stripProgram().catch((fault: unknown) => {
    stripped = undefined;
    throw fault;
  });
  return stripped;
}

/** SECURITY: readable by the user that workers run as, writable only by the kernel's user. */
async function stripProgram(): Promise<string> {
  const to = await mkdtemp(join(tmpdir(), "narthex-page-worker-"));
  process.once("exit", () => tryToRemoveOwnTree(to));
  await chmod(to, 0o755);
  const from = fileURLToPath(new URL("./worker/", import.meta.url));
  const messages = fileURLToPath(new URL("../files/worker/worker-message.ts", import.meta.url));
  const thread = new Worker(new URL("./strip-pages-thread.ts", import.meta.url), {
    workerData: { from, messages, to },
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  await once(thread, "exit");
  return to;
}
