import { joinPath, parentPath, pathInside, splitPath } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/** Result of following the links in a path. */
export interface FollowedPath {
  /** Path without links; undefined if it leads out of the workspace or in a circle. */
  readonly end: string | undefined;
  /** Every link on the way. */
  readonly links: readonly string[];
}

const MAX_LINKS = 40;

/** Follows the links in a path, as the user's programs would. The end need not exist. */
export async function followLinks(view: WorkspaceView, path: string, workspace: string): Promise<FollowedPath> {
  const links: string[] = [];
  let rest = splitPath(path);
  let at = ".";
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const next = joinPath(at, part);
    const found = await view.inspectAt(next);
    if (found?.target === undefined) {
      at = next;
      // Below a missing path or a file there are no links.
      if (found?.kind === "directory") continue;
      return { end: [at, ...rest].join("/"), links };
    }
    if (links.length >= MAX_LINKS) return { end: undefined, links };
    links.push(next);
    const target = pathInside(Buffer.from(found.target, "latin1").toString("utf8"), parentPath(next), workspace);
    if (target === undefined) return { end: undefined, links };
    rest = [...splitPath(target), ...rest];
    at = ".";
  }
  return { end: at, links };
}
