import { readdir, readFile } from "node:fs/promises";

/** The processes that are, or are about to be, kernels which clients of a home started. */
export async function kernelsOf(home: string): Promise<number[]> {
  const found = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const isKernel = await Promise.all(
    found.map(async (pid) => {
      const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
      return words.includes("--on-demand") && words[words.indexOf("--data") + 1] === home;
    }),
  );
  return found.filter((_, at) => isKernel[at]).map(Number);
}

/** Kills them: each was started by a client that is gone. Resolves when none is left. */
export async function endKernels(home: string): Promise<void> {
  for (;;) {
    const pids = await kernelsOf(home);
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
