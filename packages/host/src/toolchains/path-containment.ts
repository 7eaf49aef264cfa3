import { isAbsolute, relative } from "node:path";

/** Whether `inner` is `outer` or lies in it. Both are absolute; links are the caller's to resolve. */
export function containsPath(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
}
