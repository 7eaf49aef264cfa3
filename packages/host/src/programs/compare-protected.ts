import { createHash } from "node:crypto";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { ProtectedState } from "./scan-protected.ts";
import type { RestoredPath } from "./restore-protected.ts";
import type { FoundEntry } from "./held-directory.ts";

/** Changes needed to restore protected paths. */
export interface ProtectedChanges {
  /**
   * Every changed path that can be restored. A path that was guarded by a mount and is gone is not included: the
   * program cannot have removed it.
   */
  readonly changed: readonly string[];
  /** Paths that exist now and did not exist before. */
  readonly added: readonly string[];
  readonly restored: readonly RestoredPath[];
}

export interface Comparison {
  readonly before: ReadonlyMap<string, FoundEntry>;
  readonly after: ReadonlyMap<string, FoundEntry>;
  /** Whether two entries are the same. */
  readonly isSame: (before: FoundEntry, after: FoundEntry) => boolean;
  /** Whether a call was allowed to change the path meanwhile. */
  readonly isAllowed: (path: string) => boolean;
}

/**
 * Compares protected paths before and after a program. Existing files and directories are guarded by mounts, so the
 * program cannot change them; it can change links, and files through another hard link.
 */
export function compareProtected({ before, after, isSame, isAllowed }: Comparison): ProtectedChanges {
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
    const [was, is] = [before.get(path), after.get(path)];
    return !isAllowed(path) && (was === undefined || is === undefined || !isSame(was, is));
  });
  const aside = changed.filter((path) => after.has(path));
  const taken = new Set(aside.map((path) => (isNewRepository(path, before) ? repositoryOf(path) : path)));
  const restored = changed.flatMap((path) => restoration(path, before.get(path)));
  const handled = new Set([...aside, ...restored.map(({ path }) => path)]);
  return {
    changed: changed.filter((path) => handled.has(path)),
    added: [...taken].filter((path) => !isBelow(path, taken)),
    restored,
  };
}

/**
 * Whether two entries are the same while one kernel runs: links are compared by target, stored files by content,
 * everything else by device and inode.
 */
export function isSameWithinRun(before: FoundEntry, after: FoundEntry): boolean {
  if (!isSameAfterRestart(before, after)) return false;
  if (before.kind === "link" || before.content !== undefined) return true;
  return before.device === after.device && before.inode === after.inode;
}

/**
 * Whether two entries are the same after a restart of the kernel or the machine. Device and inode numbers may differ
 * then; but existing files and directories were mounted over, so no program could replace them.
 */
export function isSameAfterRestart(before: FoundEntry, after: FoundEntry): boolean {
  return (
    before.kind === after.kind &&
    before.target === after.target &&
    (before.content === undefined || (after.content !== undefined && before.content.equals(after.content)))
  );
}

/**
 * Describes the protected state as text. Programs may run at the same time only if it is equal.
 *
 * SECURITY: it includes paths that no mount guards. Otherwise a program that starts just after another one changed such
 * a path would take the change for the original state and restore it later. `except` omits places where quarantined
 * files are kept.
 */
export function describeState({ present, guards }: ProtectedState, except: ReadonlySet<string> = NO_PATHS): string {
  const unguarded = [...present].flatMap(([path, { kind, target, content }]) => {
    if (content !== undefined) return [`${path} ${createHash("sha256").update(content).digest("hex")}`];
    return kind === "link" || kind === "other" ? [`${path} ${kind} ${target}`] : [];
  });
  return [
    ...guards
      .filter(({ target }) => !except.has(target.slice(WORKSPACE_PATH.length + 1)))
      .map(({ target, access, guard }) => `${target} ${access} ${guard?.inode}`),
    ...unguarded.map((line) => `${WORKSPACE_PATH}/${line}`),
  ].join("\n");
}

const NO_PATHS: ReadonlySet<string> = new Set();

/**
 * Whether the path is in a repository that did not exist before. Such a repository is moved as a whole: without its
 * configuration it would be useless.
 */
function isNewRepository(path: string, before: ReadonlyMap<string, FoundEntry>): boolean {
  const repository = repositoryOf(path);
  return repository !== "" && ![...before.keys()].some((one) => `${one}/`.startsWith(`${repository}/`));
}

/** Returns the path up to its first `.git`; empty if none exists. */
function repositoryOf(path: string): string {
  const parts = path.split("/");
  const at = parts.findIndex((part) => part.toLowerCase() === ".git");
  return at === -1 ? "" : parts.slice(0, at + 1).join("/");
}

function isBelow(path: string, others: ReadonlySet<string>): boolean {
  for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
    if (others.has(path.slice(0, at))) return true;
  }
  return false;
}

/** Describes how to restore a link, or a file that was written through another hard link. */
function restoration(path: string, was: FoundEntry | undefined): RestoredPath[] {
  if (was?.target !== undefined) return [{ path, target: was.target }];
  if (was?.content !== undefined) return [{ path, content: was.content, mode: was.mode }];
  return [];
}
