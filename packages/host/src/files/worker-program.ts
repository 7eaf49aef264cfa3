import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { tryToRemoveOwnTree } from "../system/remove-own-tree.ts";

const FOLDER = fileURLToPath(new URL("./worker/", import.meta.url));
let stripped: Promise<string> | undefined;

/**
 * Returns the directory with the worker's program as JavaScript. A published package contains it. From sources, types
 * are stripped once per process, which is three times as fast as having every worker do it.
 */
export function findWorkerProgram(): Promise<string> {
  if (!import.meta.url.endsWith(".ts")) return Promise.resolve(FOLDER);
  stripped ??= stripProgram().catch((fault: unknown) => {
    stripped = undefined;
    throw fault;
  });
  return stripped;
}

/** SECURITY: the user that workers run as must be able to read it, and only the kernel's user may write it. */
async function stripProgram(): Promise<string> {
  const to = await mkdtemp(join(tmpdir(), "narthex-files-worker-"));
  process.once("exit", () => tryToRemoveOwnTree(to));
  await chmod(to, 0o755);
  const thread = new Worker(new URL("./strip-program-thread.ts", import.meta.url), {
    workerData: { from: FOLDER, to },
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  await once(thread, "exit");
  return to;
}
