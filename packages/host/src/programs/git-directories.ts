import type { HeldDirectory } from "./walk-workspace.ts";

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 6;

/** Of a repository, what decides which programs git runs, relative to its own directory. The rest is git's to write. */
const CONFIGURATION = ["config", "config.worktree"];
const PROGRAMS = ["hooks", "info/attributes", "commondir"];

/**
 * Finds what must be guarded for the repository whose work tree is this directory: that of `.git`, of what a `.git` file
 * leads to, of submodules by whatever name, and where its configuration says that hooks lie.
 *
 * SECURITY: what is read here was written by anyone. It is only ever taken for a path below the workspace's root, which
 * is walked without following a link; whatever it says, no more is guarded than that.
 */
export async function findGitPaths(
  root: HeldDirectory,
  base: string,
  options: { readonly git: "guarded" | "configurable"; readonly workspace: string },
): Promise<string[]> {
  const search = new GitSearch(root, base, options.workspace);
  await search.look(join(base, ".git"), 0);
  const own = options.git === "guarded" ? [...CONFIGURATION, ...PROGRAMS] : PROGRAMS;
  const guarded = [...search.directories].flatMap((directory) => own.map((name) => join(directory, name)));
  return [...guarded, ...search.others];
}

class GitSearch {
  /** Directories like `.git`. */
  readonly directories = new Set<string>();
  readonly others = new Set<string>();
  readonly #root: HeldDirectory;
  readonly #base: string;
  readonly #workspace: string;

  constructor(root: HeldDirectory, base: string, workspace: string) {
    this.#root = root;
    this.#base = base;
    this.#workspace = workspace;
  }

  async look(path: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH || this.directories.has(path)) return;
    const found = await this.#root.lookAt(path);
    // Where there is none, none may come to be.
    if (found === undefined || found.kind === "directory") this.directories.add(path);
    else this.others.add(path);
    if (found?.kind === "file") await this.#follow(await this.#read(path), "gitdir:", parentOf(path), depth);
    if (found?.kind !== "directory") return;
    await this.#followCommon(path, depth);
    this.#findHooks(await this.#read(join(path, "config")));
    await this.#modules(join(path, "modules"), depth + 1);
    for (const name of (await this.#names(join(path, "worktrees"))).slice(0, MAX_NAMES)) {
      for (const file of ["config.worktree", "commondir", "gitdir"]) {
        this.others.add(join(path, `worktrees/${name}/${file}`));
      }
    }
  }

  /** Names of submodules have slashes: a directory with a HEAD is one, others are on the way. */
  async #modules(path: string, depth: number): Promise<void> {
    if (depth > MAX_DEPTH) return;
    for (const name of (await this.#names(path)).slice(0, MAX_NAMES)) {
      const child = join(path, name);
      const names = await this.#names(child);
      if (names.includes("HEAD") || names.includes("config")) await this.look(child, depth + 1);
      else await this.#modules(child, depth + 1);
    }
  }

  async #followCommon(path: string, depth: number): Promise<void> {
    await this.#follow(await this.#read(join(path, "commondir")), "", path, depth);
  }

  async #follow(text: string, prefix: string, from: string, depth: number): Promise<void> {
    const line = text.split("\n")[0]?.trim() ?? "";
    if (line === "" || !line.startsWith(prefix)) return;
    const path = this.#inside(line.slice(prefix.length).trim(), from);
    if (path !== undefined && path !== ".") await this.look(path, depth + 1);
  }

  /** Every value that could be one: a file that includes others, or sets it twice, has more than one reading. */
  #findHooks(config: string): void {
    for (const [, value = ""] of config.matchAll(/^\s*hookspath\s*=\s*"?([^"\n]*?)"?\s*$/gim)) {
      const path = this.#inside(value, this.#base);
      if (path !== undefined && path !== ".") this.others.add(path);
    }
  }

  async #names(path: string): Promise<string[]> {
    return (await this.#root.namesAt(path)) ?? [];
  }

  async #read(path: string): Promise<string> {
    return (await this.#root.readAt(path, MAX_BYTES)) ?? "";
  }

  /** By its text alone. Undefined where it leads out of the workspace. */
  #inside(path: string, from: string): string | undefined {
    const inside = ["/workspace", this.#workspace].find((root) => path === root || path.startsWith(`${root}/`));
    if (path.startsWith("/") && inside === undefined) return undefined;
    const parts = inside === undefined ? [...partsOf(from), ...partsOf(path)] : partsOf(path.slice(inside.length));
    const kept: string[] = [];
    for (const part of parts) {
      if (part !== "..") kept.push(part);
      else if (kept.pop() === undefined) return undefined;
    }
    return kept.length === 0 ? "." : kept.join("/");
  }
}

const MAX_NAMES = 128;

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function parentOf(path: string): string {
  const parts = path.split("/");
  return parts.length === 1 ? "." : parts.slice(0, -1).join("/");
}

function join(path: string, name: string): string {
  return path === "." || path === "" ? name : `${path}/${name}`;
}
