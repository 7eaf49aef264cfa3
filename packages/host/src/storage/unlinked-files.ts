import { readdir, readFile, stat } from "node:fs/promises";
import { measureTree } from "../sandbox/resources/process-tree.ts";

const BLOCK_BYTES = 512;

/**
 * Counts the bytes of deleted files below one of a sandbox's mounts that its processes still hold open: a directory
 * walk does not find them, and their space is freed only when the last process closes them.
 */
export async function countUnlinkedBytes(pid: number, target: string): Promise<number> {
  const mount = await findMount(pid, target);
  if (mount === undefined) return 0;
  const pids: number[] = [];
  await measureTree(pid, { visit: (found) => pids.push(found) });
  const seen = new Map<bigint, number>();
  for (const found of pids) {
    for (const name of await readdir(`/proc/${found}/fd`).catch(() => [])) {
      const file = await stat(`/proc/${found}/fd/${name}`, { bigint: true }).catch(() => undefined);
      if (file === undefined || !file.isFile() || file.nlink > 0n) continue;
      const facts = await readFile(`/proc/${found}/fdinfo/${name}`, "latin1").catch(() => "");
      if (/^mnt_id:\s*(\d+)$/m.exec(facts)?.[1] === mount) seen.set(file.ino, Number(file.blocks) * BLOCK_BYTES);
    }
  }
  return seen.values().reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns the id of the mount at a path inside; of several mounts on one path, the visible one. */
async function findMount(pid: number, target: string): Promise<string | undefined> {
  const lines = (await readFile(`/proc/${pid}/mountinfo`, "latin1").catch(() => "")).split("\n");
  return lines.map((line) => line.split(" ")).findLast((fields) => fields[4] === target)?.[0];
}
