import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { pathInside } from "./path-text.ts";

const MAX_LINKS = 256;

/**
 * Finds files of a workspace that are part of the user's configuration: targets of links such as `~/.config/nvim`, for
 * people who keep it in a repository. Links directly in the home directory whose name has no leading dot are mere
 * shortcuts and do not count.
 */
export async function findHomeLinks(home: string, workspace: string): Promise<string[]> {
  if (home === "" || pathInside(home, ".", workspace) !== undefined) return [];
  const own = (await linksIn(home)).filter((name) => name.startsWith("."));
  const configured = (await linksIn(join(home, ".config"))).map((name) => join(".config", name));
  const links = [...own, ...configured].map((name) => join(home, name));
  const ends = await Promise.all(links.slice(0, MAX_LINKS).map((link) => realpath(link).catch(() => "")));
  return ends.flatMap((end) => {
    const inside = end === "" ? undefined : pathInside(end, ".", workspace);
    return inside === undefined || inside === "." ? [] : [inside];
  });
}

async function linksIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name);
}
