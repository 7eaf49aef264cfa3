import { isAbsolute, relative } from "node:path";

/** Whether `inner` is `outer` or inside it. Both must be absolute and free of links. */
export function containsPath(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}
