import type { ConfigPlace } from "./git-config-files.ts";
import { searchGit, searchGitAgain } from "./git-search.ts";
import { findHomeLinks } from "./home-links.ts";
import { findLinkedNames } from "./linked-names.ts";
import type { NameRules } from "./name-rules.ts";
import { joinPath, pathInside } from "./path-text.ts";
import type { TrustSources } from "./trust-sources.ts";
import { NO_FINDINGS, type TrustedFindings } from "./trusted-findings.ts";
import type { WorkspaceView } from "./workspace-view.ts";

export interface TrustedSearch extends ConfigPlace, TrustSources {
  /** Directories that are looked at, relative to the root, which is `.`. */
  readonly bases: readonly string[];
  /** Protected names. */
  readonly rules: NameRules;
  /** How much of a repository is protected; undefined if repositories are not. */
  readonly git: "guarded" | "configurable" | undefined;
  /** Whether the root's directories are looked at, too, for repositories that only their content makes one. */
  readonly findsShapes: boolean;
}

/** The one answer to what the user's own programs run or trust here, for the mounts of programs and for file tools. */
export async function findTrusted(search: TrustedSearch): Promise<TrustedFindings> {
  const { view, workspace, bases, rules, git, realPaths } = search;
  const found = git === undefined ? NO_FINDINGS : await searchGit(await gitOptions(search, git));
  const paths = new Set(found.paths);
  const linked = await Promise.all(bases.map((base) => findLinkedNames(view, base, rules, workspace)));
  for (const path of linked.flat()) paths.add(path);
  for (const path of await findHomeLinks(search.home, workspace)) paths.add(path);
  for (const path of await realPaths(workspace)) {
    const inside = pathInside(path, ".", workspace);
    if (inside !== undefined && inside !== ".") paths.add(inside);
  }
  return { ...found, paths: [...paths] };
}

/** The same after a program, which must have left `known` as it was, and have made nothing like it. */
export async function findTrustedAgain(search: TrustedSearch, known: TrustedFindings): Promise<TrustedFindings> {
  return search.git === undefined ? known : await searchGitAgain(await gitOptions(search, search.git), known);
}

async function gitOptions(search: TrustedSearch, git: "guarded" | "configurable") {
  // SECURITY: all of them. A program can make any number that come first.
  const directories = search.findsShapes ? await firstLevel(search.view) : [];
  return { ...search, git, shapeBases: [...new Set([...search.bases, ...directories])] };
}

/** Directories of the root. */
export async function firstLevel(view: WorkspaceView): Promise<string[]> {
  const kinds = (await view.kindsAt(".")) ?? new Map<string, string>();
  const directories = [...kinds].filter(([name, kind]) => kind === "directory" && name !== ".git");
  return directories.map(([name]) => joinPath(".", name));
}
