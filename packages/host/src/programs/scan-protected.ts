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

/** Current state of a workspace's protected paths. */
export interface ProtectedState {
  /** Existing protected entries, by path. */
  readonly present: ReadonlyMap<string, FoundEntry>;
  /** Mounts over existing paths, parents first: read-only, or writable mounts of their own, which cannot be renamed. */
  readonly guards: readonly SandboxMount[];
  /** Paths that are protected for reasons other than their name, whether or not they exist. */
  readonly trusted: TrustedFindings;
}

/** State before a program that is needed to tell what it changed. */
export type StateBefore = Pick<ProtectedState, "present"> & Partial<Pick<ProtectedState, "trusted">>;

export interface ProtectedScan {
  readonly workspace: string;
  /** Directories in which the paths are protected, relative to the root, which is `.`. */
  readonly bases: readonly string[];
  /** Protected paths below each of them; `*` matches any part of one name. */
  readonly paths: readonly string[];
  /** How strictly repositories are guarded; undefined if they are not. */
  readonly git: "guarded" | "configurable" | undefined;
  /** By default only the workspace itself is considered. */
  readonly sources?: TrustSources;
}

const MAX_GUARDS = 1024;
const MAX_KEPT_BYTES = 1024 * 1024;
const MAX_KEPT_TOTAL_BYTES = 8 * MAX_KEPT_BYTES;

/** Entry for a directory that is a repository by its content; equal in every scan. */
const SHAPE: FoundEntry = { kind: "file", device: 0n, inode: 0n, target: undefined, mode: 0, links: 1 };

/**
 * Scans all protected paths once, from the root down, without following a link out of the workspace.
 *
 * With `before`, the state before a program ran, it scans what the program left. SECURITY: in that case no limit, mode,
 * name or file type makes it fail, because the program chose them; it returns no guards, since nothing will run.
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
  /** Directories passed on the way down. */
  readonly #passed = new Map<string, FoundEntry>();
  #keptBytes = 0;

  constructor(workspace: string, before: ReadonlyMap<string, FoundEntry> | undefined) {
    this.#workspace = workspace;
    this.#before = before;
  }

  /** Descends name by name. */
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
      // A file, a link or a closed directory stands for everything that could be below it.
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

  /**
   * SECURITY: a mount guards one name. The file can still be written through another hard link, so its content is
   * compared and restored.
   */
  async #contentOf(
    directory: HeldDirectory,
    name: string,
    path: string,
    { kind, links }: FoundEntry,
  ): Promise<Buffer | undefined> {
    if (kind !== "file") return undefined;
    // Do not rely on the link count: the other hard link may have been removed by then.
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
   * Makes each parent directory a mount of its own, so that it cannot be renamed together with the guarded path. Other
   * directories are left alone, so that guards do not depend on a program's working directory.
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
