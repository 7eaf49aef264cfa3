import { opendir, realpath, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { KernelError } from "@narthex/contracts";
import { isInside } from "./is-inside.ts";
import { stateDirectory } from "./session-tokens.ts";

export interface WorkspaceRules {
  /** The kernel's home. */
  readonly home: string;
  /** The user's own; the system's answer by default. */
  readonly userHome?: string;
  /** Why a directory has to stay apart from the vault; undefined if it need not. */
  readonly findVaultConflict?: ((directory: string) => string | undefined) | undefined;
}

/**
 * The real path of a workspace a session may be opened on.
 *
 * SECURITY: a workspace around or inside the kernel's home would let an agent at policy, tokens and ledger; around or
 * inside the user's state at tokens of other sessions and at locks; around the temporary directory at pipes of other sessions; `/` and the user's home would let it at everything.
 * Compared as real paths, so that no link leads around it.
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

/** What only commands and kernels of the user read. First workspaces lie beside it. */
function stateDirectories(userHome: string | undefined): string[] {
  const states = [stateDirectory(process.env), ...(userHome === undefined ? [] : [stateDirectory({}, userHome)])];
  return states.flatMap((state) => [join(state, "sessions"), join(state, "locks")]);
}

async function realWorkspace(workspace: string): Promise<string> {
  // A program without types may leave it out.
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
