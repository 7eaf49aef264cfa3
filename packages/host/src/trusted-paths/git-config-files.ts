import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { KernelError } from "@narthex/contracts";
import { namedBySetting } from "./git-settings.ts";
import { parseGitConfig } from "./parse-git-config.ts";
import { joinPath, parentPath, pathInside } from "./path-text.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/** Paths of the workspace that git configuration refers to. */
export interface NamedPaths {
  /** Included configuration files. */
  readonly includes: Set<string>;
  /** Directories of hooks; `.` if hooks are in the root itself. */
  readonly hooks: Set<string>;
  /** Programs and other files. */
  readonly files: Set<string>;
}

const MAX_FILES = 1024;
const MAX_BYTES = 256 * 1024;
const MAX_TOTAL_CHARACTERS = 4 * 1024 * 1024;

/** A configuration file: a path relative to the workspace if it is inside, otherwise an absolute path. */
export interface ConfigFile {
  readonly path: string;
  readonly isInside: boolean;
}

export interface ConfigPlace {
  readonly view: WorkspaceView;
  /** Real path of the workspace. */
  readonly workspace: string;
  /** Home directory of the user whose git reads the configuration; empty if unknown. */
  readonly home: string;
}

/**
 * Reads git configuration files and everything that they include.
 *
 * SECURITY: the files may be untrusted. In the workspace they are read without following a link; elsewhere only regular
 * files are read. Whatever they contain, the result has only paths below the workspace's root. Programs create
 * repositories too: if there are too many files to read, the search fails, because a skipped file could name paths that
 * would then be unguarded.
 */
export class GitConfigFiles {
  readonly #place: ConfigPlace;
  readonly #seen = new Set<string>();
  #characters = 0;
  readonly found: NamedPaths = { includes: new Set(), hooks: new Set(), files: new Set() };

  constructor(place: ConfigPlace) {
    this.#place = place;
  }

  /** `tops`: work trees that relative paths refer to, `.` for the root. */
  async follow(file: ConfigFile, tops: readonly string[]): Promise<void> {
    const key = `${file.isInside} ${file.path} ${tops.join("\0")}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (this.#seen.size > MAX_FILES) throw tooMuch();
    const { view, workspace } = this.#place;
    if (!file.isInside) {
      // A user may keep the configuration in the workspace and link to it.
      const real = await realpath(file.path).catch(() => file.path);
      const inside = pathInside(real, ".", workspace);
      // Includes are relative to the link, so `file.path` is kept below.
      if (inside !== undefined) this.found.includes.add(inside);
    }
    const text = file.isInside ? await view.readAt(file.path, MAX_BYTES) : await readOutside(file.path);
    if (text === undefined) return;
    this.#characters += text.length;
    if (this.#characters > MAX_TOTAL_CHARACTERS) throw tooMuch();
    const named = parseGitConfig(text).map(namedBySetting);
    const worktrees = named.flatMap((one) => (one?.kind === "worktree" ? this.#beside(one.path, file) : []));
    const allTops = [...new Set([...tops, ...worktrees])];
    for (const one of named) {
      if (one === undefined) continue;
      if (one.kind === "include") await this.#include(one.path, file, allTops);
      else if (one.kind === "hooks") this.#add(this.found.hooks, one.path, allTops);
      else if (one.kind === "file") this.#add(this.found.files, one.path, allTops);
      else if (one.kind === "command") for (const word of one.words) this.#add(this.found.files, word, allTops);
    }
  }

  async #include(path: string, from: ConfigFile, tops: readonly string[]): Promise<void> {
    const expanded = this.#expand(path);
    if (from.isInside || isAbsolute(expanded)) {
      const inside = pathInside(expanded, from.isInside ? parentPath(from.path) : ".", this.#place.workspace);
      if (inside !== undefined) {
        this.found.includes.add(inside);
        return await this.follow({ path: inside, isInside: true }, tops);
      }
    }
    const base = from.isInside ? join(this.#place.workspace, dirname(from.path)) : dirname(from.path);
    await this.follow({ path: isAbsolute(expanded) ? expanded : join(base, expanded), isInside: false }, tops);
  }

  /** `core.worktree` is relative to the repository's own directory. */
  #beside(path: string, { path: file, isInside }: ConfigFile): string[] {
    const inside = isInside || isAbsolute(path) ? pathInside(path, parentPath(file), this.#place.workspace) : undefined;
    return inside === undefined ? [] : [inside];
  }

  #add(paths: Set<string>, path: string, tops: readonly string[]): void {
    const expanded = this.#expand(path);
    for (const top of tops) {
      // Earlier versions of git turned every white space character between words into a plain space.
      for (const text of new Set([expanded, expanded.replace(/\s/g, " ")])) {
        const inside = pathInside(text, top, this.#place.workspace);
        if (inside !== undefined) paths.add(inside);
      }
    }
  }

  #expand(path: string): string {
    const { home } = this.#place;
    return home !== "" && (path === "~" || path.startsWith("~/")) ? join(home, path.slice(1)) : path;
  }
}

function tooMuch(): KernelError {
  const message = `the repositories of the workspace have more than ${MAX_FILES} configuration files, or more than 4 MB of them, and paths that the rest names would not be guarded: remove repositories that are not yours`;
  return new KernelError("RESOURCE_EXCEEDED", message);
}

/** Reads a file outside the workspace with the rights of the kernel's user. */
async function readOutside(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } catch {
    return undefined;
  } finally {
    await handle.close();
  }
}

/** Returns the configuration files that git reads for every repository of this user. */
export function userConfigFiles(home: string, environment: NodeJS.ProcessEnv): readonly ConfigFile[] {
  const { GIT_CONFIG_GLOBAL: global, GIT_CONFIG_SYSTEM: system = "/etc/gitconfig", XDG_CONFIG_HOME: xdg } = environment;
  const own =
    global !== undefined
      ? [global]
      : [join(home, ".gitconfig"), join(xdg !== undefined && xdg !== "" ? xdg : join(home, ".config"), "git/config")];
  return [system, ...own].filter(isAbsolute).map((path) => ({ path, isInside: false }));
}

/** Names that git runs in a directory of hooks. SPEC: githooks(5). */
const HOOK_NAMES: readonly string[] = [
  "applypatch-msg",
  "pre-applypatch",
  "post-applypatch",
  "pre-commit",
  "pre-merge-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "pre-rebase",
  "post-checkout",
  "post-merge",
  "pre-push",
  "pre-receive",
  "update",
  "proc-receive",
  "post-receive",
  "post-update",
  "reference-transaction",
  "push-to-checkout",
  "pre-auto-gc",
  "post-rewrite",
  "sendemail-validate",
  "fsmonitor-watchman",
  "p4-changelist",
  "p4-prepare-changelist",
  "p4-post-changelist",
  "p4-pre-submit",
  "post-index-change",
];

export function hookPaths(directory: string): readonly string[] {
  return directory === "." ? HOOK_NAMES.map((name) => joinPath(".", name)) : [directory];
}
