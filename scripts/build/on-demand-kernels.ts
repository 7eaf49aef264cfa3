import { readdir, readFile } from "node:fs/promises";

/** A kernel process that a client started, possibly still starting up. */
export interface OnDemandKernel {
  readonly pid: number;
  /** Path of the command. */
  readonly program: string;
  readonly home: string;
}

/** All such kernels on this machine, found by their command lines. */
export async function findOnDemandKernels(): Promise<OnDemandKernel[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
      if (!words.includes("--on-demand")) return [];
      return [{ pid: Number(pid), program: words[1] ?? "", home: words[words.indexOf("--data") + 1] ?? "" }];
    }),
  );
  return found.flat();
}

/** The process ids of the kernels whose homes are at or below a directory. */
export async function kernelsOf(directory: string): Promise<number[]> {
  const kernels = await findOnDemandKernels();
  return kernels.filter(({ home }) => `${home}/`.startsWith(`${directory}/`)).map(({ pid }) => pid);
}

/** Kills the kernels that `find` returns, for a caller that has ended their clients. Resolves when it finds no more. */
export async function endKernels(find: () => Promise<readonly number[]>): Promise<void> {
  for (;;) {
    const pids = await find();
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has already ended.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
