import { realpathSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";

/**
 * Removes the entries of a PATH that lie in the workspace.
 *
 * SECURITY: an agent can write in the workspace, and npm puts `node_modules/.bin` on the PATH of the programs it
 * starts: a program there must not run as the user who connects, nor as the interpreter of one that does.
 */
export function removeWorkspaceFromPath(path: string, workspace: string): string {
  return path
    .split(":")
    .filter((entry) => isAbsolute(entry) && !isInside(entry, workspace) && !isInside(realPath(entry), workspace))
    .join(":");
}

/** Whether a path is the directory itself or below it. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
