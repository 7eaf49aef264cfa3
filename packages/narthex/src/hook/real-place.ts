import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** Where a workspace lies for the kernel's tools, whatever it is called outside. */
const INSIDE = "/workspace";

/**
 * A client's path as the kernel's tools take it; undefined if it lies outside the workspace.
 *
 * SECURITY: a client's own tools follow links, so the path that is decided on is where the links lead. Nothing holds the
 * path until the tool runs: whoever can change it meanwhile gets by.
 */
export async function realPlace(given: string, directory: string, workspace: string): Promise<string | undefined> {
  if (given.includes("\0")) return undefined;
  const named = given === "~" || given.startsWith("~/") ? join(homedir(), given.slice(1)) : given;
  const real = await realOf(resolve(directory, named));
  if (real === undefined) return undefined;
  const way = relative(workspace, real);
  if (way === "") return INSIDE;
  return way === ".." || way.startsWith(`..${sep}`) ? undefined : `${INSIDE}/${way}`;
}

/** Whether a client's path leads to a file that lies in a directory, with all links followed. */
export async function isFileIn(given: string, directory: string, parent: string): Promise<boolean> {
  if (given.includes("\0")) return false;
  try {
    const real = await realpath(resolve(directory, given));
    return dirname(real) === (await realpath(parent)) && (await lstat(real)).isFile();
  } catch {
    return false;
  }
}

/** Through the links of all that exists; what does not stays as it is. Undefined for a link that leads nowhere. */
async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isThere || path === dirname(path)) return undefined;
    const above = await realOf(dirname(path));
    return above === undefined ? undefined : join(above, basename(path));
  }
}
