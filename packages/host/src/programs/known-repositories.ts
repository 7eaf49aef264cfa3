import { KernelError } from "@narthex/contracts";
import type { SandboxedProgram } from "@narthex/kernel";
import { HeldDirectory } from "./held-directory.ts";

const MAX_BASES = 256;
/** Number of directories examined concurrently. */
const TOGETHER = 64;

/** Directories of workspaces that are known to contain repositories. */
export class KnownRepositories {
  /** Keyed by workspace. */
  readonly #known = new Map<string, Promise<Set<string>>>();

  /**
   * Returns the directories in which paths are protected for a program: the root, those down to its working directory,
   * and repositories.
   */
  async basesFor(workspace: string, program: SandboxedProgram): Promise<string[]> {
    const known = await this.#repositoriesOf(workspace);
    for (const repository of program.repositories ?? []) {
      if (known.size >= MAX_BASES && !known.has(repository)) throw tooMany(workspace);
      known.add(repository);
    }
    const bases = new Set([".", ...known]);
    let path = "";
    for (const part of program.workingDirectory === "." ? [] : program.workingDirectory.split("/")) {
      path = path === "" ? part : `${path}/${part}`;
      bases.add(path);
    }
    return [...bases].sort();
  }

  /**
   * Searches once, in the direct children of the root; other repositories become known when a program works in them.
   */
  #repositoriesOf(workspace: string): Promise<Set<string>> {
    const known = this.#known.get(workspace);
    if (known !== undefined) return known;
    const finding = findRepositories(workspace);
    this.#known.set(workspace, finding);
    finding.catch(() => this.#known.delete(workspace));
    return finding;
  }
}

/** Skips names that are not UTF-8: they cannot be mounted over, and no program can start in them. */
async function findRepositories(workspace: string): Promise<Set<string>> {
  const found = new Set<string>();
  const root = await HeldDirectory.open(workspace);
  try {
    const names = (await root.names()).filter((name) => name.isWellFormed());
    for (let at = 0; at < names.length; at += TOGETHER) {
      const some = names.slice(at, at + TOGETHER);
      const hold = await Promise.all(some.map((name) => holdsRepository(root, name)));
      for (const [index, name] of some.entries()) if (hold[index] === true) found.add(name);
      if (found.size > MAX_BASES) throw tooMany(workspace);
    }
  } finally {
    await root.close();
  }
  return found;
}

async function holdsRepository(root: HeldDirectory, name: string): Promise<boolean> {
  const directory = await root.enter(name);
  try {
    return (await directory?.inspect(".git")) !== undefined;
  } finally {
    await directory?.close();
  }
}

/** SECURITY: a further repository would not be guarded. */
function tooMany(workspace: string): KernelError {
  const message = `\`${workspace}\` has more than ${MAX_BASES} repositories, and one more would not be guarded: open a session in a directory with fewer`;
  return new KernelError("RESOURCE_EXCEEDED", message);
}
