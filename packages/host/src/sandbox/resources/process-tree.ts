import { readdir, readFile } from "node:fs/promises";

const MAX_PROCESSES = 10_000;

export interface TreeMeasure {
  readonly residentBytes: number;
  readonly processes: number;
}

/** Receives `/proc/PID/stat` of each process that was found. */
export interface ProcessVisitor {
  visit(pid: number, stat: string): void;
}

/**
 * Measures the memory of all processes in a tree and counts them. The memory of processes that end meanwhile is not
 * counted.
 */
export async function measureTree(root: number, seen?: ProcessVisitor): Promise<TreeMeasure> {
  const pending = [root];
  let residentBytes = 0;
  let processes = 0;
  for (let pid = pending.pop(); pid !== undefined && processes < MAX_PROCESSES; pid = pending.pop()) {
    processes++;
    const [memory, children, stat] = await Promise.all([
      read(`/proc/${pid}/statm`),
      childrenOf(pid),
      seen === undefined ? "" : read(`/proc/${pid}/stat`),
    ]);
    residentBytes += Number(memory.split(" ")[1] ?? 0) * PAGE_BYTES;
    seen?.visit(pid, stat);
    pending.push(...children);
  }
  return { residentBytes, processes };
}

/** SECURITY: a child is listed under the thread that started it, so the lists of all threads are read. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(" ").filter((child) => child !== "")).map(Number);
}

/** Page size of x86-64, and of arm64 in common distributions. */
const PAGE_BYTES = 4096;

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "latin1");
  } catch {
    return "";
  }
}
