import { KernelError } from "@narthex/contracts";
import type { SandboxMount } from "../sandbox/sandbox-plan.ts";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { shownPath } from "./file-name.ts";
import { findTrustedPaths, findTrustedPathsAfter } from "../trusted-paths/find-trusted-paths.ts";
import { NameRules } from "../trusted-paths/name-rules.ts";
import { headPath } from "../trusted-paths/repository-shape.ts";
import { NO_SOURCES, type TrustSources } from "../trusted-paths/trust-sources.ts";
import { NO_FINDINGS, type TrustedFindings } from "../trusted-paths/trusted-findings.ts";
import { type FoundEntry, HeldDirectory } from "./held-directory.ts";

/** What is protected in a workspace, as it is now. */
export interface ProtectedState {
  /** What is there, by path. */
  readonly present: ReadonlyMap<string, FoundEntry>;
  /** Mounts over what is there, parents first: read-only, or as a mount of its own that cannot be renamed. */
  readonly guards: readonly SandboxMount[];
  /** What is protected besides names, whether or not it is there. */
  readonly trusted: TrustedFindings;
}

/** What has to be known of the state before a program to tell what it changed. */
export type StateBefore = Pick<ProtectedState, "present"> & Partial<Pick<ProtectedState, "trusted">>;

export interface ProtectedScan {
  readonly workspace: string;
  /** Directories in which the paths are protected, relative to the root, which is `.`. */
  readonly bases: readonly string[];
  /** Paths below each of them; `*` stands for any part of one name. */
  readonly paths: readonly string[];
  /** How much of a repository is guarded; undefined if repositories are not. */
  readonly git: "guarded" | "configurable" | undefined;
  /** Only the workspace itself counts by default. */
  readonly sources?: TrustSources;
}

const MAX_GUARDS = 1024;
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_KEPT_TOTAL_BYTES = 8 * MAX_KEPT_BYTES;

/** Stands for the fact that a directory is a repository by its content: the same in each scan. */
const SHAPE: FoundEntry = { kind: "file", device: 0n, inode: 0n, target: undefined, mode: 0, links: 1 };

/**
 * Looks at every protected path once, from the root down, without following a link out of the workspace.
 *
 * With `before`, the state before a program ran, it looks at what the program has left. SECURITY: then no limit, mode,
 * name or kind of file makes it fail, because the program chose them; it answers no guards, since nothing will run.
 */
export async function scanProtected(
  { workspace, bases, paths, git, sources = NO_SOURCES }: ProtectedScan,
  before?: StateBefore,
): Promise<ProtectedState> {
  const rules = paths.map((path) => path.split("/"));
  const scan = new Scan(workspace, before?.present);
  const root = await HeldDirectory.open(workspace, { opensClosed: before !== undefined });
  try {
    if (await root.isClosed()) {
      const message = `\`${workspace}\` cannot be read, so what is protected in it is not known: chmod u+rwx it`;
      throw new KernelError("SANDBOX_UNAVAILABLE", message);
    }
    const search = { view: root, workspace, bases, rules: new NameRules(rules), git, findsShapes: true, ...sources };
    const trusted = await (before === undefined
      ? findTrustedPaths(search)
      : findTrustedPathsAfter(search, before.trusted ?? NO_FINDINGS));
    const exact = trusted.paths.map((path) => path.split("/"));
    for (const base of bases) {
      await scan.descend(root, base === "." ? [] : base.split("/"), "", (directory, path) =>
        scan.match(directory, path === "" ? [...rules, ...exact] : rules, path),
      );
    }
    for (const shape of trusted.shapes) {
      scan.present.set(headPath(shape, (await root.namesAt(shape)) ?? []), SHAPE);
    }
    return { present: scan.present, guards: [...scan.guards.values()], trusted };
  } finally {
    await root.close();
  }
}

class Scan {
  readonly present = new Map<string, FoundEntry>();
  readonly guards = new Map<string, SandboxMount>();
  readonly #workspace: string;
  readonly #before: ReadonlyMap<string, FoundEntry> | undefined;
  /** Directories on the way. */
  readonly #passed = new Map<string, FoundEntry>();
  #keptBytes = 0;

  constructor(workspace: string, before: ReadonlyMap<string, FoundEntry> | undefined) {
    this.#workspace = workspace;
    this.#before = before;
  }

  /** Goes down part by part. */
  async descend(
    directory: HeldDirectory,
    parts: readonly string[],
    path: string,
    then: (directory: HeldDirectory, path: string) => Promise<void>,
  ): Promise<void> {
    const [part, ...rest] = parts;
    if (part === undefined) return await then(directory, path);
    const found = await directory.inspect(part);
    if (found?.kind !== "directory") return;
    const child = await directory.enter(part);
    if (child === undefined) return;
    try {
      const childPath = join(path, part);
      this.#passed.set(childPath, found);
      await this.descend(child, rest, childPath, then);
    } finally {
      await child.close();
    }
  }

  async match(directory: HeldDirectory, rules: readonly (readonly string[])[], path: string): Promise<void> {
    for (const { name, rests } of new NameRules(rules).match(await directory.names())) {
      await this.#matchName(directory, name, rests, path);
    }
  }

  async #matchName(
    directory: HeldDirectory,
    name: string,
    rests: readonly (readonly string[])[],
    parent: string,
  ): Promise<void> {
    const found = await directory.inspect(name);
    if (found === undefined) return;
    const path = join(parent, name);
    const deeper = rests.filter((rest) => rest.length > 0);
    const isOnTheWay = deeper.length === rests.length && found.kind === "directory" && !this.#before?.has(path);
    const child = isOnTheWay ? await directory.enter(name) : undefined;
    try {
      // What cannot be looked into stands for all that would be in it: a file, a link or a closed directory.
      if (child === undefined || (await child.isClosed())) {
        this.present.set(path, { ...found, content: await this.#contentOf(directory, name, path, found) });
        if (found.kind === "directory" || found.kind === "file") this.#guard(path, "read", found);
        return;
      }
      this.#passed.set(path, found);
      await this.match(child, deeper, path);
    } finally {
      await child?.close();
    }
  }

  /** SECURITY: a mount guards one name. By another the file can still be written, so it is compared, and put back. */
  async #contentOf(
    directory: HeldDirectory,
    name: string,
    path: string,
    { kind, links }: FoundEntry,
  ): Promise<Buffer | undefined> {
    if (kind !== "file") return undefined;
    // The other name may be gone by then.
    if (this.#before !== undefined) {
      const isCompared = this.#before.get(path)?.content !== undefined;
      return isCompared ? await directory.read(name, MAX_KEPT_BYTES + 1) : undefined;
    }
    if (links < 2) return undefined;
    const content = await directory.read(name, MAX_KEPT_BYTES + 1);
    this.#keptBytes += content?.length ?? 0;
    if ((content?.length ?? 0) <= MAX_KEPT_BYTES && this.#keptBytes <= MAX_KEPT_TOTAL_BYTES) return content;
    throw new KernelError(
      "RESOURCE_EXCEEDED",
      `\`${shownPath(path)}\` is protected, has several names, and is larger than 1 MB, or is more than 8 MB with others that are: leave it only one`,
    );
  }

  /**
   * Each directory on the way becomes a mount of its own: what holds a guarded path cannot be renamed. Others stay as they
   * are, so that where a program starts makes no difference to its guards.
   */
  #guard(path: string, access: SandboxMount["access"], found: FoundEntry): void {
    if (this.#before !== undefined) return;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const passed = this.#passed.get(parent);
    if (passed !== undefined && !this.guards.has(parent)) this.#guard(parent, "write", passed);
    if (this.guards.has(path) && access === "write") return;
    if (this.guards.size >= MAX_GUARDS) {
      throw new KernelError("RESOURCE_EXCEEDED", `the workspace has more than ${MAX_GUARDS} protected paths`);
    }
    if (!path.isWellFormed()) {
      const message = `\`${shownPath(path)}\` is protected, and its name is not UTF-8, so it cannot be mounted: rename it`;
      throw new KernelError("SANDBOX_UNAVAILABLE", message);
    }
    const { device, inode } = found;
    const [source, target] = [`${this.#workspace}/${path}`, `${WORKSPACE_PATH}/${path}`];
    this.guards.set(path, { source, target, access, guard: { device, inode } });
  }
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}
