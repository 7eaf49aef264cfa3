import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";

/** Splits a path. Paths here are relative to a workspace's root, which is `.`, with `/` as separator. */
export function splitPath(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

export function joinPath(path: string, name: string): string {
  return path === "." || path === "" ? name : `${path}/${name}`;
}

export function parentPath(path: string): string {
  const parts = splitPath(path);
  return parts.length < 2 ? "." : parts.slice(0, -1).join("/");
}

/**
 * Normalizes a name for comparison. SECURITY: some file systems treat `.GIT` and `.git` as equal, so case is always
 * ignored.
 */
export function foldName(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** Resolves `.` and `..` textually. Returns undefined if the path leads out of the root. */
function normalizePath(parts: readonly string[]): string | undefined {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (part !== "..") kept.push(part);
    else if (kept.pop() === undefined) return undefined;
  }
  return kept.length === 0 ? "." : kept.join("/");
}

/**
 * Resolves a path as written in a file of the workspace, relative to the directory `from`. Returns undefined if it
 * leads out of the workspace. Programs inside see the root as `/workspace`, the user's own programs see its real path.
 */
export function pathInside(path: string, from: string, workspace: string): string | undefined {
  if (!path.startsWith("/")) return normalizePath([...splitPath(from), ...path.split("/")]);
  const absolute = normalizePath(path.split("/"));
  const root = [WORKSPACE_PATH, workspace].find((one) => absolute === one.slice(1) || isBelow(absolute, one.slice(1)));
  if (root === undefined || absolute === undefined) return undefined;
  return normalizePath(absolute.slice(root.length - 1).split("/"));
}

function isBelow(path: string | undefined, parent: string): boolean {
  return path?.startsWith(`${parent}/`) ?? false;
}
