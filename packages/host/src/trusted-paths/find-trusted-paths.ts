import { KernelError } from "@narthex/contracts";
import { BoundedView } from "./bounded-view.ts";
import type { ConfigPlace } from "./git-config-files.ts";
import { searchGit, searchGitAfter } from "./git-search.ts";
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

/** Directories of the root that file tools look at. */
const MAX_DIRECTORIES = 512;

/** The one answer to what the user's own programs run or trust here, for the mounts of programs and for file tools. */
export async function findTrustedPaths(unbounded: TrustedSearch): Promise<TrustedFindings> {
  const search = { ...unbounded, view: new BoundedView(unbounded.view) };
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
export async function findTrustedPathsAfter(search: TrustedSearch, known: TrustedFindings): Promise<TrustedFindings> {
  return search.git === undefined ? known : await searchGitAfter(await gitOptions(search, search.git), known);
}

async function gitOptions(search: TrustedSearch, git: "guarded" | "configurable") {
  // SECURITY: all of them. A program can make any number that come first.
  const directories = search.findsShapes ? await firstLevel(search.view) : [];
  return { ...search, git, shapeBases: [...new Set([...search.bases, ...directories])] };
}

/** Directories of the root. */
async function firstLevel(view: WorkspaceView): Promise<string[]> {
  const kinds = (await view.kindsAt(".")) ?? new Map<string, string>();
  return [...kinds].filter(([name, kind]) => kind === "directory" && name !== ".git").map(([name]) => name);
}

/**
 * Directories of the root in which paths are protected for file tools: all of them, or repositories and some others.
 *
 * SECURITY: programs make directories, and must not make the search pass over a repository of the user's.
 */
export async function searchedDirectories(view: WorkspaceView): Promise<string[]> {
  const directories = await firstLevel(view);
  if (directories.length <= MAX_DIRECTORIES) return directories;
  const repositories: string[] = [];
  for (const name of directories)
    if ((await view.inspectAt(joinPath(name, ".git"))) !== undefined) repositories.push(name);
  if (repositories.length > MAX_DIRECTORIES) {
    const message = `the workspace has more than ${MAX_DIRECTORIES} repositories, and one more would not be guarded: open a session in a directory with fewer`;
    throw new KernelError("RESOURCE_EXCEEDED", message);
  }
  return [...new Set([...repositories, ...directories])].slice(0, MAX_DIRECTORIES);
}
