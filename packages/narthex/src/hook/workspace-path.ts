import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, relative, resolve, sep } from "node:path";

/** Path of the workspace for the kernel's tools, whatever it is outside. */
const WORKSPACE_MOUNT = "/workspace";

/**
 * Converts a client's path for the kernel's tools; returns undefined if it lies outside the workspace.
 *
 * SECURITY: a client's own tools follow links, so the decision is about the path after links are resolved. The path is
 * not locked until the tool runs: an attacker who can change it in between bypasses the check.
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

/** Whether a client's path leads to a file in a directory, with all links resolved. */
export async function isFileInDirectory(clientPath: string, directory: string, parent: string): Promise<boolean> {
  if (clientPath.includes("\0")) return false;
  try {
    const real = await realpath(resolve(directory, clientPath));
    return dirname(real) === (await realpath(parent)) && (await lstat(real)).isFile();
  } catch {
    return false;
  }
}

/**
 * Resolves the links of the existing part of a path; the missing part stays as it is. Returns undefined for a dangling
 * link.
 */
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
