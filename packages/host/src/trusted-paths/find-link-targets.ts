import { followLinks } from "./follow-links.ts";
import { joinPath } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

const MAX_DEPTH = 4;
const MAX_ENTRIES = 512;

/**
 * Finds the targets of links in a protected directory: if `.git/hooks/pre-commit` is a link to `scripts/check.sh`, then
 * that script runs at the user's commit. The links themselves are protected by their directory.
 */
export async function findLinkTargets(view: WorkspaceView, directory: string, workspace: string): Promise<string[]> {
  const ends: string[] = [];
  const start = (await followLinks(view, directory, workspace)).end;
  const open: { readonly path: string; readonly depth: number }[] =
    start === undefined || start === "." ? [] : [{ path: start, depth: 0 }];
  let left = MAX_ENTRIES;
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    for (const [name, kind] of (await view.kindsAt(next.path)) ?? []) {
      if (left-- <= 0) return ends;
      const path = joinPath(next.path, name);
      if (kind === "directory" && next.depth < MAX_DEPTH) open.push({ path, depth: next.depth + 1 });
      if (kind !== "link") continue;
      const { end, links } = await followLinks(view, path, workspace);
      ends.push(...links.slice(1), ...(end === undefined || end === "." ? [] : [end]));
    }
  }
  return ends;
}
