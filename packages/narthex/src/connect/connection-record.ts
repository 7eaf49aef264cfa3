import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { blake3, toHex, utf8 } from "@narthex/contracts";
import { stateDirectory } from "@narthex/host/session-tokens";
import { CommandError } from "../terminal/command-error.ts";
import type { AppliedEdit } from "./configuration-edit.ts";

/** What `connect` changed in a workspace for one client, for `--undo` to revert. */
export interface ConnectionRecord {
  readonly format: 1;
  readonly workspace: string;
  readonly client: string;
  readonly files: readonly RecordedFile[];
  /** Lines added to git's list of ignored files. */
  readonly ignored?: IgnoredFiles;
}

export interface IgnoredFiles {
  /** Real path of the repository's directory. */
  readonly repository: string;
  readonly lines: readonly string[];
  /** The list did not exist before. */
  readonly created: boolean;
}

export interface RecordedFile {
  readonly name: string;
  /** The file did not exist before. */
  readonly created: boolean;
  /** Directories created for the file, outermost first. */
  readonly directories: readonly string[];
  readonly applied: readonly AppliedEdit[];
  /** Text of a file that narthex owns as a whole. */
  readonly whole?: string;
  /** JSON if absent. */
  readonly format?: "toml";
}

/**
 * SECURITY: the record lies in the user's state directory, not in the workspace: an agent that could write it would
 * choose what an undo removes.
 */
export function recordPath(workspace: string, client: string, environment: NodeJS.ProcessEnv): string {
  const name = `${client}-${toHex(blake3(utf8(workspace))).slice(0, 32)}.json`;
  return join(stateDirectory(environment), "connections", name);
}

/** Returns undefined if nothing was connected. */
export async function loadRecord(path: string): Promise<ConnectionRecord | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "ENOENT") return undefined;
    throw fault;
  }
  try {
    // Trusted: this program wrote it, in a directory that only the user can write.
    return JSON.parse(text) as ConnectionRecord;
  } catch (cause) {
    throw new CommandError("CONFIG_INVALID", `the record \`${path}\` is damaged`, {
      cause,
      next: "take narthex's entries out of the client's files by hand, then remove the record",
    });
  }
}

export async function saveRecord(path: string, record: ConnectionRecord): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}

export async function deleteRecord(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Merges the records of two runs: the first run's changes, then those that the second run added. */
export function mergeRecords(earlier: ConnectionRecord | undefined, later: ConnectionRecord): ConnectionRecord {
  if (earlier === undefined) return later;
  const names = new Set([...earlier.files, ...later.files].map(({ name }) => name));
  const files = [...names].flatMap((name) => {
    const before = earlier.files.find((file) => file.name === name);
    const after = later.files.find((file) => file.name === name);
    if (before === undefined || after === undefined) return [before, after].filter((file) => file !== undefined);
    return [
      {
        ...after,
        created: before.created || after.created,
        directories: [...before.directories, ...after.directories],
        applied: mergeEdits(before.applied, after.applied),
      },
    ];
  });
  const ignored = mergeIgnored(earlier.ignored, later.ignored);
  return { ...later, files, ...(ignored && { ignored }) };
}

/** If the workspace has moved to another repository, the later one counts. */
function mergeIgnored(earlier: IgnoredFiles | undefined, later: IgnoredFiles | undefined): IgnoredFiles | undefined {
  if (later === undefined || earlier?.repository !== later.repository) return later ?? earlier;
  return {
    ...later,
    lines: [...new Set([...earlier.lines, ...later.lines])],
    created: earlier.created || later.created,
  };
}

/** A member that was written twice keeps the value from before the first write. */
function mergeEdits(before: readonly AppliedEdit[], after: readonly AppliedEdit[]): AppliedEdit[] {
  const kept = before.filter((edit) => !after.some((again) => again.kind !== "member" && sameEdit(edit, again)));
  const joined: AppliedEdit[] = [...kept];
  for (const edit of after) {
    const index = joined.findIndex((first) => isSameMember(first, edit));
    const first = joined[index];
    if (edit.kind !== "member" || first?.kind !== "member") {
      joined.push(edit);
      continue;
    }
    joined[index] = { ...first, value: edit.value };
  }
  return joined;
}

function isSameMember(one: AppliedEdit, other: AppliedEdit): boolean {
  if (one.kind !== "member" || other.kind !== "member") return false;
  return JSON.stringify([...one.at, one.key]) === JSON.stringify([...other.at, other.key]);
}

function sameEdit(one: AppliedEdit, other: AppliedEdit): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
