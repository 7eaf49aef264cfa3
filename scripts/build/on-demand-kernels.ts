import { readdir, readFile } from "node:fs/promises";

/** A kernel that a client started, or that is about to be one. */
export interface OnDemandKernel {
  readonly pid: number;
  /** The command's file. */
  readonly program: string;
  readonly home: string;
}

/** Those of this machine, as their command lines say. */
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

/** The processes of the kernels whose homes are at or below a directory. */
export async function kernelsOf(directory: string): Promise<number[]> {
  const kernels = await findOnDemandKernels();
  return kernels.filter(({ home }) => `${home}/`.startsWith(`${directory}/`)).map(({ pid }) => pid);
}

/** Kills the kernels that a search finds, for a caller that has ended their clients. Resolves when it finds none any more. */
export async function endKernels(find: () => Promise<readonly number[]>): Promise<void> {
  for (;;) {
    const pids = await find();
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
