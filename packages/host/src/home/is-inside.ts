import { isAbsolute, relative } from "node:path";

/** Whether a real path is a directory or a path inside it. */
export function isInside(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}
