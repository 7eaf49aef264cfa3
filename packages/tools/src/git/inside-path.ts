import { posix } from "node:path";

/** Where the workspace lies for programs in a sandbox. */
export const INSIDE = "/workspace";

/** A path of the workspace, as programs in the sandbox see it. */
export function insidePath(path: string): string {
  return path === "." ? INSIDE : `${INSIDE}/${path}`;
}

/** The other way round; undefined for what lies elsewhere. By its text alone. */
export function relativeInside(path: string): string | undefined {
  const plain = posix.normalize(path).replace(/(?<=.)\/$/, "");
  if (plain === INSIDE) return ".";
  return plain.startsWith(`${INSIDE}/`) ? plain.slice(INSIDE.length + 1) : undefined;
}
