import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a directory and its missing parents. Returns the first one that was created, if any.
 *
 * Node's own `recursive` never ends in a directory that exists but fails with ENOENT when something is created in it,
 * as `/proc` does: a thread of the pool stays busy, and the process cannot even be ended by SIGTERM.
 */
export async function makeDirectories(path: string, mode: number): Promise<string | undefined> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const made = await tryToMake(at, mode);
    if (made === "missing parent" && dirname(at) !== at) {
      missing.push(at);
      continue;
    }
    if (made === "missing parent") throw missingParent(at);
    return makeDownwards(made === "made" ? at : undefined, missing, mode);
  }
}

async function makeDownwards(
  first: string | undefined,
  missing: readonly string[],
  mode: number,
): Promise<string | undefined> {
  let made = first;
  for (const path of missing.toReversed()) {
    const outcome = await tryToMake(path, mode);
    if (outcome === "missing parent") throw missingParent(path);
    if (outcome === "made") made ??= path;
  }
  return made;
}

type Outcome = "made" | "there" | "missing parent";

/** An existing entry is for the caller to check: it may be a file, or a link to a directory. */
async function tryToMake(path: string, mode: number): Promise<Outcome> {
  try {
    await mkdir(path, { mode });
    return "made";
  } catch (fault) {
    const code: unknown = fault instanceof Error && "code" in fault ? fault.code : undefined;
    if (code === "EEXIST") return "there";
    if (code === "ENOENT") return "missing parent";
    // The directory may already exist below one that is not writable.
    if ((code === "EROFS" || code === "EACCES" || code === "EPERM") && (await exists(path))) return "there";
    throw fault;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function missingParent(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, mkdir '${path}'`), { code: "ENOENT" });
}
