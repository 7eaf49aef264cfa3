import { followLinks } from "./follow-links.ts";
import { findLinkTargets } from "./find-link-targets.ts";
import { type NameRule, NameRules } from "./name-rules.ts";
import { joinPath, splitPath } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/**
 * Returns the paths that links at protected names lead to, which are protected too: if `.claude` is a link to
 * `cfg/claude`, that is `cfg/claude`; if `.github` is a link to `gh`, it is `gh/workflows`. The first links themselves
 * are not returned, because they are found by name.
 */
export async function findLinkedNames(
  view: WorkspaceView,
  base: string,
  rules: NameRules,
  workspace: string,
): Promise<string[]> {
  const ends: string[] = [];
  const visit = async (directory: string, here: NameRules): Promise<void> => {
    for (const { name, rests } of here.match((await view.namesAt(directory)) ?? [])) {
      const path = joinPath(directory, name);
      const kind = (await view.inspectAt(path))?.kind;
      const deeper = rests.filter((rest) => rest.length > 0);
      if (kind === "directory") {
        if (deeper.length < rests.length) ends.push(...(await linksIn(view, path, workspace)));
        else await visit(path, new NameRules(deeper));
      }
      if (kind !== "link") continue;
      const { end, links } = await followLinks(view, path, workspace);
      ends.push(...links.slice(1));
      if (end === undefined) continue;
      for (const rest of rests) ends.push(...(await behind(view, end, rest, workspace)));
    }
  };
  await visit(base, rules);
  return ends.filter((path) => path !== ".");
}

/** Skips installed packages: they have many links, all within each other. */
async function linksIn(view: WorkspaceView, path: string, workspace: string): Promise<string[]> {
  return splitPath(path).includes("node_modules") ? [] : await findLinkTargets(view, path, workspace);
}

/** Returns what a rule protects behind a link: its target, or the rest of the rule below it. */
async function behind(view: WorkspaceView, end: string, rest: NameRule, workspace: string): Promise<string[]> {
  if (rest.length === 0) return [end, ...(await linksIn(view, end, workspace))];
  const path = joinPath(end, rest.join("/"));
  const followed = await followLinks(view, path, workspace);
  return [path, ...followed.links, ...(followed.end === undefined ? [] : [followed.end])];
}
