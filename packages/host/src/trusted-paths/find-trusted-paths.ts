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
  /** Directories to search, relative to the root, which is `.`. */
  readonly bases: readonly string[];
  /** Protected names. */
  readonly rules: NameRules;
  /** How strictly repositories are protected; undefined if they are not. */
  readonly git: "guarded" | "configurable" | undefined;
  /** Whether to also search the root's directories for repositories that are recognized only by their content. */
  readonly findsShapes: boolean;
}

/** Maximum number of directories of the root that are searched for file tools. */
const MAX_DIRECTORIES = 512;

/**
 * Finds everything that the user's own programs run or trust in a workspace. The only such search, used for the mounts
 * of programs and for file tools.
 */
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

/** As `findTrustedPaths`, after a program ran, which must have left `known` unchanged and added nothing similar. */
export async function findTrustedPathsAfter(search: TrustedSearch, known: TrustedFindings): Promise<TrustedFindings> {
  return search.git === undefined ? known : await searchGitAfter(await gitOptions(search, search.git), known);
}

async function gitOptions(search: TrustedSearch, git: "guarded" | "configurable") {
  // SECURITY: without a limit. A program could create any number of directories that come first.
  const directories = search.findsShapes ? await firstLevel(search.view) : [];
  return { ...search, git, shapeBases: [...new Set([...search.bases, ...directories])] };
}

/** Returns the directories of the root. */
async function firstLevel(view: WorkspaceView): Promise<string[]> {
  const kinds = (await view.kindsAt(".")) ?? new Map<string, string>();
  return [...kinds].filter(([name, kind]) => kind === "directory" && name !== ".git").map(([name]) => name);
}

/**
 * Returns the directories of the root in which paths are protected for file tools: all of them, or else all
 * repositories and some others.
 *
 * SECURITY: directories created by programs must not make the search skip a repository of the user.
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
