import { opendir, realpath, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { KernelError } from "@narthex/contracts";
import { isInside } from "./is-inside.ts";
import { stateDirectory } from "./session-tokens.ts";

export interface WorkspaceRules {
  /** Home of the kernel. */
  readonly home: string;
  /** Home directory of the user; by default as reported by the system. */
  readonly userHome?: string;
  /** Returns why a directory conflicts with the vault; undefined if it does not. */
  readonly findVaultConflict?: ((directory: string) => string | undefined) | undefined;
}

/**
 * Returns the real path of a workspace on which a session may be opened.
 *
 * SECURITY: a workspace that overlaps the kernel's home would expose policy, tokens and ledger to an agent; one that
 * overlaps the user's state directory, tokens of other sessions and locks; one that contains the temporary directory,
 * pipes of other sessions; `/` and the user's home, everything. Real paths are compared, so links cannot bypass this.
 */
export async function resolveWorkspace(workspace: string, around: WorkspaceRules): Promise<string> {
  const real = await realWorkspace(workspace);
  const home = await realpath(around.home).catch(() => resolve(around.home));
  const userHome = await realpath(around.userHome ?? homedir()).catch(() => undefined);
  if (real === "/") throw refused(real, "it is the root of the file system");
  if (real === userHome) throw refused(real, "it is your home directory");
  if (isInside(real, home)) throw refused(real, "it holds the kernel's own home");
  if (isInside(home, real)) throw refused(real, "it lies inside the kernel's own home");
  const temporary = await realpath(tmpdir()).catch(() => resolve(tmpdir()));
  if (isInside(real, temporary)) throw refused(real, "it holds the directory of the kernel's temporary files");
  for (const directory of stateDirectories(userHome)) {
    const kept = await realpath(directory).catch(() => resolve(directory));
    if (isInside(real, kept)) throw refused(real, "it holds your session tokens or locks");
    if (isInside(kept, real)) throw refused(real, "it lies among your session tokens or locks");
  }
  const apart = around.findVaultConflict?.(real);
  if (apart !== undefined) throw refused(real, apart);
  return real;
}

/** Directories that only the user's commands and kernels read. First workspaces are stored beside them. */
function stateDirectories(userHome: string | undefined): string[] {
  const states = [stateDirectory(process.env), ...(userHome === undefined ? [] : [stateDirectory({}, userHome)])];
  return states.flatMap((state) => [join(state, "sessions"), join(state, "locks")]);
}

async function realWorkspace(workspace: string): Promise<string> {
  // JavaScript callers may omit it.
  if (typeof workspace !== "string") {
    throw new KernelError("WORKSPACE_REFUSED", "a session needs a `workspace`: name a project's directory");
  }
  let real: string;
  try {
    real = await realpath(workspace);
  } catch (cause) {
    throw new KernelError("WORKSPACE_REFUSED", `\`${workspace.slice(0, 200)}\` does not exist or cannot be entered`, {
      cause,
    });
  }
  if (!(await stat(real)).isDirectory()) throw refused(real, "it is no directory");
  await opendir(real).then(
    (directory) => directory.close(),
    (cause: unknown) => {
      throw refused(real, "this user may not read it", cause);
    },
  );
  return real;
}

function refused(path: string, why: string, cause?: unknown): KernelError {
  const message = `\`${path}\` cannot be a workspace: ${why}; name a project's directory`;
  return new KernelError("WORKSPACE_REFUSED", message, { cause });
}
