import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/** Everything that can be told of a directory: names, kinds, owners, contents. Two that are equal were not touched. */
export async function treeFacts(directory: string): Promise<Record<string, string>> {
  const facts: Record<string, string> = {};
  for (const name of ["", ...(await readdir(directory, { recursive: true }))].sort()) {
    const path = join(directory, name);
    const found = await lstat(path);
    const { mode, uid, ino, nlink, mtimeMs } = found;
    const content = found.isFile()
      ? (await readFile(path)).toString("latin1")
      : found.isSymbolicLink()
        ? await readlink(path)
        : "";
    facts[name] = [mode.toString(8), uid, ino, found.isDirectory() ? "" : nlink, mtimeMs, content].join(" ");
  }
  return facts;
}
