import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { REPOSITORY } from "../checks/run-tool.ts";

const FILES = join(REPOSITORY, "packages/host/src/files");

/**
 * Writes the program of file workers into the folder in which the bundled code looks for it. It stays separate and
 * unchanged: a sandbox sees only that folder of the package.
 */
export async function writeWorkerProgram(directory: string): Promise<void> {
  const to = join(directory, "worker");
  await mkdir(to);
  const thread = new Worker(join(FILES, "strip-program-thread.ts"), {
    workerData: { from: join(FILES, "worker"), to },
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  await once(thread, "exit");
  if (!(await readdir(to)).includes("files-worker.js")) throw new Error("the program of file workers is not there");
}
