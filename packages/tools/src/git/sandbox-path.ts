import { posix } from "node:path";

/** Where the workspace lies for programs in a sandbox. */
export const SANDBOX_WORKSPACE = "/workspace";

/** A path of the workspace, as programs in the sandbox see it. */
export function toSandboxPath(path: string): string {
  return path === "." ? SANDBOX_WORKSPACE : `${SANDBOX_WORKSPACE}/${path}`;
}

/** The other way round; undefined for what lies elsewhere. By its text alone. */
export function fromSandboxPath(path: string): string | undefined {
  const plain = posix.normalize(path).replace(/(?<=.)\/$/, "");
  if (plain === SANDBOX_WORKSPACE) return ".";
  return plain.startsWith(`${SANDBOX_WORKSPACE}/`) ? plain.slice(SANDBOX_WORKSPACE.length + 1) : undefined;
}
