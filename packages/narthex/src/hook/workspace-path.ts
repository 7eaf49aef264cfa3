import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** Where a workspace lies for the kernel's tools, whatever it is called outside. */
const WORKSPACE_MOUNT = "/workspace";

/**
 * A client's path as the kernel's tools take it; undefined if it lies outside the workspace.
 *
 * SECURITY: a client's own tools follow links, so the path that is decided on is where the links lead. Nothing holds the
 * path until the tool runs: whoever can change it meanwhile gets by.
 */
export async function toWorkspacePath(
  clientPath: string,
  directory: string,
  workspace: string,
): Promise<string | undefined> {
  if (clientPath.includes("\0")) return undefined;
  const named = clientPath === "~" || clientPath.startsWith("~/") ? join(homedir(), clientPath.slice(1)) : clientPath;
  const real = await resolveLinks(resolve(directory, named));
  if (real === undefined) return undefined;
  const way = relative(workspace, real);
  if (way === "") return WORKSPACE_MOUNT;
  return way === ".." || way.startsWith(`..${sep}`) ? undefined : `${WORKSPACE_MOUNT}/${way}`;
}

/** Whether a client's path leads to a file that lies in a directory, with all links followed. */
export async function isFileInDirectory(clientPath: string, directory: string, parent: string): Promise<boolean> {
  if (clientPath.includes("\0")) return false;
  try {
    const real = await realpath(resolve(directory, clientPath));
    return dirname(real) === (await realpath(parent)) && (await lstat(real)).isFile();
  } catch {
    return false;
  }
}

/** Through the links of all that exists; what does not stays as it is. Undefined for a link that leads nowhere. */
async function resolveLinks(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    const isThere = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isThere || path === dirname(path)) return undefined;
    const above = await resolveLinks(dirname(path));
    return above === undefined ? undefined : join(above, basename(path));
  }
}
