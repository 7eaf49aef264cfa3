import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a directory and those above it that are missing. Answers the first one that was made, if any was.
 *
 * Node's own `recursive` never ends where a directory exists and says that it does not when something is made in it, as
 * `/proc` does: a thread of the pool stays busy, and the process cannot even be ended by SIGTERM.
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

/** What is there under this name is for the caller to look at: a file, or a link to a directory. */
async function tryToMake(path: string, mode: number): Promise<Outcome> {
  try {
    await mkdir(path, { mode });
    return "made";
  } catch (fault) {
    const code: unknown = fault instanceof Error && "code" in fault ? fault.code : undefined;
    if (code === "EEXIST") return "there";
    if (code === "ENOENT") return "missing parent";
    // It can be there already, below a directory that may not be written.
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
