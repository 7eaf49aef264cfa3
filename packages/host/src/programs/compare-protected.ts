import { createHash } from "node:crypto";
import { WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { ProtectedState } from "./scan-protected.ts";
import type { RestoredPath } from "./restore-protected.ts";
import type { FoundEntry } from "./held-directory.ts";

/** What has to be done so that protected paths are as they were. */
export interface ProtectedChanges {
  /** Every path that is not as it was and can be put back: what is gone and was mounted over was not the program's doing. */
  readonly changed: readonly string[];
  /** What is there and was not. */
  readonly added: readonly string[];
  readonly restored: readonly RestoredPath[];
}

export interface Comparison {
  readonly before: ReadonlyMap<string, FoundEntry>;
  readonly after: ReadonlyMap<string, FoundEntry>;
  /** Whether two findings are the same thing. */
  readonly isSame: (before: FoundEntry, after: FoundEntry) => boolean;
  /** Whether a call was allowed to change the path meanwhile. */
  readonly isAllowed: (path: string) => boolean;
}

/** Files and directories that were there cannot be changed by a program: see guards. Links, and files by other names, can. */
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

/** The same thing while one kernel runs: by what a link says or a kept file has in it, others by their number. */
export function isSameWithinRun(before: FoundEntry, after: FoundEntry): boolean {
  if (!isSameAfterRestart(before, after)) return false;
  if (before.kind === "link" || before.content !== undefined) return true;
  return before.device === after.device && before.inode === after.inode;
}

/**
 * The same thing after the kernel, or the machine, was started again. Numbers in a file system may be others then; but a
 * file or directory that was there was mounted over, and no program could put another in its place.
 */
export function isSameAfterRestart(before: FoundEntry, after: FoundEntry): boolean {
  return (
    before.kind === after.kind &&
    before.target === after.target &&
    (before.content === undefined || (after.content !== undefined && before.content.equals(after.content)))
  );
}

/**
 * What is there, as one text: the same for programs that may run beside each other.
 *
 * SECURITY: also of what no mount guards. Otherwise a program that starts while another has just changed it would take
 * that for the state before it, and bring it back later. Places where planted files are kept may be left out: `except`.
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

/** A repository that was not there before goes as a whole: without its configuration it is no use to anyone. */
function isNewRepository(path: string, before: ReadonlyMap<string, FoundEntry>): boolean {
  const repository = repositoryOf(path);
  return repository !== "" && ![...before.keys()].some((one) => `${one}/`.startsWith(`${repository}/`));
}

/** The path up to its first `.git`; empty if it has none. */
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

/** How to bring back a link, or a file that was written by another of its names. */
function restoration(path: string, was: FoundEntry | undefined): RestoredPath[] {
  if (was?.target !== undefined) return [{ path, target: was.target }];
  if (was?.content !== undefined) return [{ path, content: was.content, mode: was.mode }];
  return [];
}
