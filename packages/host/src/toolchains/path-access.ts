import { access, constants, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";

/**
 * Returns why a sandbox of this identity could not mount a path: the path or one of its parents is closed to it.
 * Undefined if it can.
 */
export async function findReadProblem(path: string, identity: SandboxIdentity): Promise<string | undefined> {
  try {
    // Programs inside that run as our own user also have our groups.
    if (process.getuid?.() === identity.uid) {
      await access(path, constants.R_OK);
      return undefined;
    }
    const barred = await findTraverseProblem(dirname(path), identity);
    if (barred !== undefined) return barred;
    const needed = (await stat(path)).isDirectory() ? READ | EXECUTE : READ;
    return (await permits(path, identity, needed)) ? undefined : closed(path, identity);
  } catch (fault) {
    const reason = fault instanceof Error && "code" in fault ? String(fault.code) : String(fault);
    return `\`${path}\` cannot be read (${reason})`;
  }
}

/** Returns why another user could not traverse a directory; undefined if it can. */
export async function findTraverseProblem(directory: string, identity: SandboxIdentity): Promise<string | undefined> {
  const parent = dirname(directory);
  const barred = parent === directory ? undefined : await findTraverseProblem(parent, identity);
  if (barred !== undefined) return barred;
  return (await permits(directory, identity, EXECUTE)) ? undefined : closed(directory, identity);
}

async function permits(path: string, { uid, gid }: SandboxIdentity, needed: number): Promise<boolean> {
  const facts = await stat(path);
  const shift = facts.uid === uid ? OWNER : facts.gid === gid ? GROUP : 0;
  return ((facts.mode >> shift) & needed) === needed;
}

function closed(path: string, { uid }: SandboxIdentity): string {
  return `\`${path}\` is closed to user ${uid}, as whom programs run inside`;
}

const READ = 4;
const EXECUTE = 1;
const OWNER = 6;
const GROUP = 3;
