import { readdir, readFile } from "node:fs/promises";

const MAX_PROCESSES = 10_000;

export interface TreeMeasure {
  readonly residentBytes: number;
  readonly processes: number;
}

/** Is given the `stat` of each process that was seen. */
export interface ProcessVisitor {
  visit(pid: number, stat: string): void;
}

/** Memory that all processes of a tree hold, and how many they are. Processes that end meanwhile count for nothing. */
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

/** SECURITY: a process is listed with the thread that started it, so those of every thread are read. */
async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(" ").filter((child) => child !== "")).map(Number);
}

/** Of x86-64, and of arm64 as distributions build it. */
const PAGE_BYTES = 4096;

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "latin1");
  } catch {
    return "";
  }
}
