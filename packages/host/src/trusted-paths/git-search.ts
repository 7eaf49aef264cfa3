import { KernelError } from "@narthex/contracts";
import { type ConfigPlace, GitConfigFiles, hookPaths, type ConfigFile } from "./git-config-files.ts";
import { followLinks } from "./follow-links.ts";
import { readGitlinks } from "./git-index.ts";
import { foldName, joinPath, parentPath, pathInside, splitPath } from "./path-text.ts";
import { findDangerousStates } from "./rebase-state.ts";
import { isInertRepository } from "./inert-repository.ts";
import { findLinkTargets } from "./find-link-targets.ts";
import { looksLikeRepository } from "./repository-shape.ts";
import type { TrustedFindings } from "./trusted-findings.ts";

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 6;
/** Number of directories examined concurrently. */
const TOGETHER = 64;
/** Maximum number of directories of submodules and work trees in one search, and their maximum depth. */
const MAX_MODULES = 2048;
const MAX_MODULE_PARTS = 64;

/** Files of a repository's directory that decide which programs git runs. Git may write the rest. */
const CONFIGURATION = ["config", "config.worktree"];
const PROGRAMS = ["hooks", "info/attributes", "commondir"];

/**
 * Finds the repositories of the given work trees: in `.git`, at the target of a `.git` file or link, in submodules of
 * any name, and in directories that look like repositories; and everything that their configuration names.
 *
 * SECURITY: a repository's content may be untrusted. It is used only for paths below the workspace's root, which are
 * walked without following a link out of it; counts and sizes are limited.
 */
export async function searchGit(search: GitSearchOptions): Promise<TrustedFindings> {
  const git = new GitSearch(search, search.git);
  await Promise.all(search.bases.map((base) => git.examineBase(base)));
  for (const base of search.bases) await git.examineLinked(base);
  for (const base of search.shapeBases) await git.examineNew(base);
  await git.examineShapes(search.shapeBases);
  const tops = git.tops.size === 0 ? ["."] : [...git.tops];
  for (const file of search.userConfig) await git.config.follow(file, tops);
  await git.addNamed();
  return git.findings();
}

/**
 * As `searchGit`, after a program ran: finds new repositories and new rebase states. Paths named by configuration and
 * links are taken from `known`, the state before the program.
 *
 * SECURITY: otherwise a program could write a configuration that names the user's files, and have them moved aside as
 * its own.
 */
export async function searchGitAfter(search: GitSearchOptions, known: TrustedFindings): Promise<TrustedFindings> {
  const git = new GitSearch(search, search.git, known);
  await Promise.all(known.directories.map((directory) => git.protectGitDirectory(directory)));
  await Promise.all(search.bases.map((base) => git.examineBase(base)));
  for (const base of search.bases) await git.examineLinked(base);
  for (const base of search.shapeBases) await git.examineNew(base);
  await git.examineShapes(search.shapeBases);
  return git.findings();
}

export interface GitSearchOptions extends ConfigPlace {
  readonly bases: readonly string[];
  /** Directories that are only checked for looking like a repository. */
  readonly shapeBases: readonly string[];
  readonly git: "guarded" | "configurable";
  readonly userConfig: readonly ConfigFile[];
}

class GitSearch {
  readonly #paths: Set<string>;
  readonly #directories: Set<string>;
  readonly #shapes: Set<string>;
  /** Directories that an index names. */
  readonly #linked = new Set<string>();
  readonly tops = new Set<string>();
  readonly config: GitConfigFiles;
  readonly #place: ConfigPlace;
  readonly #own: readonly string[];
  readonly #known: TrustedFindings | undefined;
  #modulesSeen = 0;

  constructor(place: ConfigPlace, git: "guarded" | "configurable", known?: TrustedFindings) {
    this.#place = place;
    this.#known = known;
    this.#paths = new Set(known?.paths);
    this.#directories = new Set(known?.directories);
    this.#shapes = new Set(known?.shapes);
    this.#own = git === "guarded" ? [...CONFIGURATION, ...PROGRAMS] : PROGRAMS;
    this.config = new GitConfigFiles(place);
  }

  findings(): TrustedFindings {
    return { paths: [...this.#paths], directories: [...this.#directories], shapes: [...this.#shapes] };
  }

  async examineBase(base: string): Promise<void> {
    const own = (await this.#names(base)).filter((name) => foldName(name) === ".git");
    for (const name of own.length === 0 ? [".git"] : own) await this.#look(joinPath(base, name), base, 0);
  }

  /**
   * Examines the repositories that the index of a work tree names, and recursively those that they name.
   *
   * SECURITY: to check whether such a directory has changes, the user's git starts a git in it, with the configuration
   * found there. A repository that did not exist before and would run a program is moved aside.
   */
  async examineLinked(top: string): Promise<void> {
    const { view } = this.#place;
    for (const link of await this.#gitlinks(top)) {
      const child = joinPath(top, link);
      if (this.#linked.has(child) || !splitPath(link).every(isPlainName)) continue;
      this.#linked.add(child);
      const own = joinPath(child, ".git");
      const found = await view.inspectAt(own);
      if (found === undefined) continue;
      if (this.#known === undefined) await this.examineBase(child);
      else if (!this.#directories.has(own) && !this.#paths.has(own)) {
        if (found.kind !== "directory" || !(await isInertRepository(view, own))) {
          this.#shapes.add(own);
          continue;
        }
      }
      await this.examineLinked(child);
    }
  }

  /**
   * Examines a directory without a known repository. Before a program, a repository found there becomes known.
   *
   * SECURITY: the user's prompt or editor starts git in it. After a program, a new repository stays if it is a work
   * tree of a known one or runs nothing; any other is moved aside.
   */
  async examineNew(top: string): Promise<void> {
    const { view } = this.#place;
    const own = joinPath(top, ".git");
    if (this.#directories.has(own) || this.#paths.has(own) || this.#linked.has(top)) return;
    const kind = (await view.inspectAt(own))?.kind;
    if (kind === undefined) return;
    if (this.#known === undefined) {
      await this.examineBase(top);
      return await this.examineLinked(top);
    }
    const directory = kind === "directory" ? own : await this.#repositoryBehind(own, top);
    const isKnown = [...this.#directories].some((known) => directory?.startsWith(`${known}/`) === true);
    if (directory === undefined || !(isKnown || (await isInertRepository(view, directory)))) this.#shapes.add(own);
    else await this.examineLinked(top);
  }

  async #gitlinks(top: string): Promise<string[]> {
    const { view } = this.#place;
    const own = joinPath(top, ".git");
    const names = (await view.namesAt(own)) ?? [];
    const directory = names.length > 0 ? own : await this.#repositoryBehind(own, top);
    if (directory === undefined) return [];
    const links = new Set<string>();
    for (const name of directory === own ? names : await this.#names(directory)) {
      if (name !== "index" && !name.startsWith("sharedindex.")) continue;
      for (const link of await readGitlinks(view.chunksAt(joinPath(directory, name)))) links.add(link);
    }
    return [...links];
  }

  /** Returns the repository that a `.git` file or link refers to. */
  async #repositoryBehind(path: string, top: string): Promise<string | undefined> {
    const { view, workspace } = this.#place;
    const kind = (await view.inspectAt(path))?.kind;
    if (kind === "file") return await this.#pointer(path, "gitdir:", top);
    return kind === "link" ? (await followLinks(view, path, workspace)).end : undefined;
  }

  async examineShapes(directories: readonly string[]): Promise<void> {
    for (let at = 0; at < directories.length; at += TOGETHER) {
      await Promise.all(directories.slice(at, at + TOGETHER).map((directory) => this.#lookAtShape(directory)));
    }
  }

  async #lookAtShape(directory: string): Promise<void> {
    const kinds = (await this.#place.view.kindsAt(directory)) ?? new Map<string, "directory" | "link" | "other">();
    if (this.#shapes.has(directory) || !looksLikeRepository(kinds)) return;
    // An index may name further repositories.
    const isInert = async (): Promise<boolean> =>
      !kinds.has("index") && (await isInertRepository(this.#place.view, directory));
    if (this.#known !== undefined && (await isInert())) return;
    this.#shapes.add(directory);
    if (this.#known === undefined) await this.protectGitDirectory(directory, directory);
  }

  /** Adds everything that the configuration names, with the targets of links. */
  async addNamed(): Promise<void> {
    const { includes, hooks, files } = this.config.found;
    const directories = [...hooks].filter((path) => path !== ".");
    for (const path of [...includes, ...[...hooks].flatMap(hookPaths), ...files]) {
      // A command that names the work tree itself names no specific file.
      if (path === ".") continue;
      this.#paths.add(path);
      await this.#protectEnd(path);
    }
    for (const path of directories) await this.#protectLinksBelow(path);
  }

  /** `top` is the work tree. */
  async #look(path: string, top: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH || this.#directories.has(path)) return;
    const found = await this.#place.view.inspectAt(path);
    // If there is no repository yet, none may be created.
    if (found === undefined || found.kind === "directory") {
      this.#directories.add(path);
      if (found === undefined) this.#protectOwn(path);
      else await this.protectGitDirectory(path, top, depth);
      return;
    }
    this.#paths.add(path);
    if (this.#known !== undefined) return;
    if (found.kind === "link") {
      const { end, links } = await followLinks(this.#place.view, path, this.#place.workspace);
      for (const link of links) this.#paths.add(link);
      if (end !== undefined && end !== ".") await this.#look(end, top, depth + 1);
      return;
    }
    const pointed = await this.#pointer(path, "gitdir:", parentPath(path));
    if (pointed !== undefined) await this.#look(pointed, top, depth + 1);
  }

  /** Protects a directory that has the role of `.git`. */
  async protectGitDirectory(directory: string, top = directory, depth = 0): Promise<void> {
    this.#protectOwn(directory);
    const kinds = (await this.#place.view.kindsAt(directory)) ?? new Map<string, string>();
    if (kinds.size === 0) return;
    await this.#protectStates(directory, kinds.keys());
    if (kinds.has("modules")) await this.#modules(joinPath(directory, "modules"), top);
    if (kinds.has("worktrees")) await this.#worktrees(joinPath(directory, "worktrees"));
    if (this.#known !== undefined) return;
    this.tops.add(top);
    const common = kinds.has("commondir") && (await this.#pointer(joinPath(directory, "commondir"), "", directory));
    if (common) await this.#look(common, top, depth + 1);
    for (const name of [...CONFIGURATION, ...PROGRAMS]) {
      const kind = kinds.get(name.split("/")[0] ?? "");
      if (kind === undefined) continue;
      const path = joinPath(directory, name);
      const end = kind === "link" || name.includes("/") ? await this.#protectEnd(path) : path;
      if (end === undefined) continue;
      if (CONFIGURATION.includes(name)) await this.config.follow({ path: end, isInside: true }, [top]);
      if (name === "hooks") await this.#protectLinksBelow(end);
    }
  }

  #protectOwn(directory: string): void {
    for (const name of this.#own) this.#paths.add(joinPath(directory, name));
  }

  async #protectStates(directory: string, names: Iterable<string>): Promise<void> {
    for (const state of await findDangerousStates(this.#place.view, directory, new Set(names))) this.#paths.add(state);
  }

  async #worktrees(path: string): Promise<void> {
    for (const name of await this.#names(path)) {
      const worktree = joinPath(path, name);
      this.#countModule();
      for (const file of ["config.worktree", "commondir", "gitdir"]) this.#paths.add(joinPath(worktree, file));
      await this.#protectStates(worktree, await this.#names(worktree));
    }
  }

  /**
   * Names of submodules can contain slashes: a directory with a HEAD or config is a repository; others are parents of
   * one.
   */
  async #modules(path: string, top: string): Promise<void> {
    if (splitPath(path).length > MAX_MODULE_PARTS) {
      if (this.#known !== undefined) return;
      throw tooMany(`directories more than ${MAX_MODULE_PARTS} deep`);
    }
    for (const [name, kind] of (await this.#place.view.kindsAt(path)) ?? []) {
      if (kind !== "directory") continue;
      const child = joinPath(path, name);
      this.#countModule();
      const names = await this.#names(child);
      if (names.includes("HEAD") || names.includes("config")) await this.#look(child, top, 0);
      else if (names.length > 0) await this.#modules(child, top);
    }
  }

  /**
   * SECURITY: programs create directories there. A directory skipped because of too many others would be unguarded, so
   * before a program too many are rejected; after a program there is no limit.
   */
  #countModule(): void {
    this.#modulesSeen += 1;
    if (this.#known === undefined && this.#modulesSeen > MAX_MODULES) {
      throw tooMany(`more than ${MAX_MODULES} directories`);
    }
  }

  /** Returns the path in a file such as `commondir`. Undefined if it leads out of the workspace, or to its root. */
  async #pointer(path: string, prefix: string, from: string): Promise<string | undefined> {
    const text = await this.#place.view.readAt(path, MAX_BYTES);
    const line = text?.split("\n")[0]?.trim() ?? "";
    if (line === "" || !line.startsWith(prefix)) return undefined;
    const inside = pathInside(line.slice(prefix.length).trim(), from, this.#place.workspace);
    return inside === "." ? undefined : inside;
  }

  /** Protects the links in a path and its target. Returns the target; undefined if it is outside. */
  async #protectEnd(path: string): Promise<string | undefined> {
    const { end, links } = await followLinks(this.#place.view, path, this.#place.workspace);
    for (const link of links) this.#paths.add(link);
    if (links.length > 0 && end !== undefined && end !== ".") this.#paths.add(end);
    return end;
  }

  async #protectLinksBelow(directory: string): Promise<void> {
    for (const path of await findLinkTargets(this.#place.view, directory, this.#place.workspace)) this.#paths.add(path);
  }

  async #names(path: string): Promise<string[]> {
    return (await this.#place.view.namesAt(path)) ?? [];
  }
}

function isPlainName(name: string): boolean {
  return name !== ".." && foldName(name) !== ".git";
}

function tooMany(what: string): KernelError {
  const message = `a repository has ${what} in its \`modules\` and \`worktrees\`, and one more would not be guarded: remove those that git did not make`;
  return new KernelError("RESOURCE_EXCEEDED", message);
}
