import { lstat } from "node:fs/promises";
import type { TrustedPathsClaim, TrustedPathsSnapshot, TrustedPaths } from "@narthex/kernel";
import { HeldDirectory } from "../programs/held-directory.ts";
import { findTrustedPaths, searchedDirectories } from "./find-trusted-paths.ts";
import { NameRules } from "./name-rules.ts";
import { createPathMatcher } from "./path-matcher.ts";
import { foldName, splitPath } from "./path-text.ts";
import { looksLikeRepository, shapeSteps } from "./repository-shape.ts";
import type { TrustSources } from "./trust-sources.ts";
import type { WorkspaceView } from "./workspace-view.ts";

/** A search of a workspace, and the configuration files that it depends on. */
interface CachedSearch {
  readonly atMs: number;
  readonly matches: (path: string) => boolean;
  /** Identity of each configuration file when it was read, by path. */
  readonly witnesses: ReadonlyMap<string, string>;
}

/**
 * How long a cached search is valid while its configuration files are unchanged. SECURITY: only the user can change the
 * result of a search, not an agent. Whatever an agent writes within this time after such a change, it could have
 * written before it.
 */
const MAX_AGE_MS = 1000;
const MAX_WORKSPACES = 256;
const REPOSITORY = ".git";

/** Determines what the user's own programs run or trust in workspaces, for tools that write files. */
export class WorkspaceTrust implements TrustedPaths {
  readonly #rules: NameRules;
  readonly #protectsGit: boolean;
  readonly #sources: TrustSources;
  readonly #nowMs: () => number;
  readonly #searches = new Map<string, Promise<CachedSearch>>();
  /** Names that calls are currently writing, by workspace and directory. */
  readonly #claims = new Map<string, Map<string, number>>();

  constructor(names: readonly string[], sources: TrustSources, nowMs: () => number) {
    this.#rules = new NameRules(names.filter((name) => name !== REPOSITORY).map((name) => name.split("/")));
    this.#protectsGit = names.includes(REPOSITORY);
    this.#sources = sources;
    this.#nowMs = nowMs;
  }

  async inspect(workspace: string, written: readonly string[]): Promise<TrustedPathsSnapshot> {
    const { matches } = await this.#search(workspace);
    const completing = new Set<string>();
    for (const path of written) if (await this.#completesRepository(workspace, path)) completing.add(path);
    return { isTrusted: (path) => matches(path) || completing.has(path) };
  }

  async claim(workspace: string, written: readonly string[]): Promise<TrustedPathsClaim> {
    // SECURITY: claim before any check, so that of two concurrent calls at least one sees the other.
    const release = this.#claim(workspace, written);
    try {
      return { ...(await this.inspect(workspace, written)), release };
    } catch (fault) {
      release();
      throw fault;
    }
  }

  async #search(workspace: string): Promise<CachedSearch> {
    const known = await this.#searches.get(workspace)?.catch(() => undefined);
    if (known !== undefined && this.#nowMs() - known.atMs < MAX_AGE_MS && (await isUnchanged(workspace, known))) {
      return known;
    }
    const searching = this.#searchNow(workspace);
    if (this.#searches.size >= MAX_WORKSPACES) this.#searches.clear();
    this.#searches.set(workspace, searching);
    return await searching;
  }

  async #searchNow(workspace: string): Promise<CachedSearch> {
    const atMs = this.#nowMs();
    const root = await openIfThere(workspace);
    if (root === undefined) return { atMs, matches: () => false, witnesses: new Map() };
    try {
      const view = new WitnessView(root, workspace);
      const found = await findTrustedPaths({
        view,
        workspace,
        bases: [".", ...(await searchedDirectories(view))],
        rules: this.#rules,
        git: this.#protectsGit ? "guarded" : undefined,
        findsShapes: false,
        ...this.#sources,
      });
      // Below a directory named `.git` everything is protected anyway.
      const paths = [...found.paths, ...found.directories].filter((path) => !splitPath(path).includes(REPOSITORY));
      return { atMs, matches: createPathMatcher(paths), witnesses: view.witnesses };
    } finally {
      await root.close();
    }
  }

  /** Whether a parent directory of this path is a repository, or becomes one when the path is written. */
  async #completesRepository(workspace: string, path: string): Promise<boolean> {
    const steps = this.#protectsGit ? shapeSteps(path) : [];
    const root = steps.length === 0 ? undefined : await openIfThere(workspace);
    if (root === undefined) return false;
    try {
      for (const { directory, name, kind } of steps) {
        const there = (await root.kindsAt(directory)) ?? [];
        const claimed = this.#claimedIn(workspace, directory).map((one) => [one, "other"] as const);
        if (looksLikeRepository([...there, [name, kind], ...claimed])) return true;
      }
      return false;
    } finally {
      await root.close();
    }
  }

  #claimedIn(workspace: string, directory: string): string[] {
    const prefix = `${foldName(directory)}\0`;
    const claimed = this.#claims.get(workspace) ?? new Map<string, number>();
    return [...claimed.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  }

  #claim(workspace: string, written: readonly string[]): () => void {
    const steps = written
      .flatMap(shapeSteps)
      .filter(({ name, kind }) => kind !== "directory" || foldName(name) !== "head");
    const keys = steps.map(({ directory, name }) => `${foldName(directory)}\0${foldName(name)}`);
    const claims = this.#claims.get(workspace) ?? new Map<string, number>();
    if (keys.length > 0) this.#claims.set(workspace, claims);
    for (const key of keys) claims.set(key, (claims.get(key) ?? 0) + 1);
    return () => {
      for (const key of keys.splice(0)) {
        const left = (claims.get(key) ?? 0) - 1;
        if (left > 0) claims.set(key, left);
        else claims.delete(key);
      }
      if (claims.size === 0 && this.#claims.get(workspace) === claims) this.#claims.delete(workspace);
    };
  }
}

/** Returns undefined if the directory does not exist: nothing can be written there. */
async function openIfThere(workspace: string): Promise<HeldDirectory | undefined> {
  try {
    return await HeldDirectory.open(workspace);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && ABSENT.has(String(fault.code))) return undefined;
    throw fault;
  }
}

const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

async function isUnchanged(workspace: string, { witnesses }: CachedSearch): Promise<boolean> {
  const unchanged = [...witnesses].map(async ([path, was]) => (await identify(workspace, path)) === was);
  return (await Promise.all(unchanged)).every(Boolean);
}

async function identify(workspace: string, path: string): Promise<string> {
  const facts = await lstat(`${workspace}/${path}`, { bigint: true }).catch(() => undefined);
  if (facts === undefined) return "absent";
  return [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(" ");
}

/** Records the identity of every file before it is read. */
class WitnessView implements WorkspaceView {
  readonly witnesses = new Map<string, string>();
  readonly #root: HeldDirectory;
  readonly #workspace: string;

  constructor(root: HeldDirectory, workspace: string) {
    this.#root = root;
    this.#workspace = workspace;
  }

  inspectAt(path: string): ReturnType<WorkspaceView["inspectAt"]> {
    return this.#root.inspectAt(path);
  }

  namesAt(path: string): ReturnType<WorkspaceView["namesAt"]> {
    return this.#root.namesAt(path);
  }

  kindsAt(path: string): ReturnType<WorkspaceView["kindsAt"]> {
    return this.#root.kindsAt(path);
  }

  async readAt(path: string, maxBytes: number): Promise<string | undefined> {
    this.witnesses.set(path, await identify(this.#workspace, path));
    return await this.#root.readAt(path, maxBytes);
  }

  chunksAt(path: string): AsyncIterable<Buffer> {
    return this.#root.chunksAt(path);
  }
}
