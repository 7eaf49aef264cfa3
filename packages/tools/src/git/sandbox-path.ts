import { posix } from "node:path";

/** Path of the workspace for programs in a sandbox. */
export const SANDBOX_WORKSPACE = "/workspace";

/** Converts a workspace path to the path that programs in the sandbox see. */
export function toSandboxPath(path: string): string {
  return path === "." ? SANDBOX_WORKSPACE : `${SANDBOX_WORKSPACE}/${path}`;
}

/** The reverse of `toSandboxPath`; undefined for a path outside the workspace. Judges by the text alone. */
export function fromSandboxPath(path: string): string | undefined {
  const plain = posix.normalize(path).replace(/(?<=.)\/$/, "");
  if (plain === SANDBOX_WORKSPACE) return ".";
  return plain.startsWith(`${SANDBOX_WORKSPACE}/`) ? plain.slice(SANDBOX_WORKSPACE.length + 1) : undefined;
}
