import { KernelError } from "@narthex/contracts";
import type { WorkspaceFiles } from "@narthex/kernel";
import type { ProgramsOptions } from "../programs/create-programs.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";
import type { OpenedVault } from "./open-vault.ts";

type FindToolchains = ProgramsOptions["findToolchains"];

/**
 * Keeps the vault out of every sandbox but its own.
 *
 * SECURITY: no session can be opened on a workspace that overlaps the vault. A session outlives the kernel, so a
 * session that was opened before the vault was configured is refused here, at each call.
 */
export function isolateFiles(files: WorkspaceFiles, vault: OpenedVault): WorkspaceFiles {
  return {
    async prepare(place, operation, signal) {
      verifyIsolated(place.workspace, vault);
      return await files.prepare(place, operation, signal);
    },
  };
}

/** Checks a workspace before each operation, because a session outlives the kernel that opened it. */
export function withWorkspaceCheck(files: WorkspaceFiles, check: (workspace: string) => Promise<void>): WorkspaceFiles {
  return {
    async prepare(place, operation, signal) {
      await check(place.workspace);
      return await files.prepare(place, operation, signal);
    },
  };
}

/** Does the same for programs, whose start looks up the toolchains of their workspace. */
export function isolateToolchains(find: FindToolchains, vault: OpenedVault): FindToolchains {
  return async (place) => {
    verifyIsolated(place.workspace, vault);
    return (await find(place)).map((toolchain) => isolateToolchain(toolchain, vault));
  };
}

/** A toolchain prefix on the user's PATH may contain the vault as well. */
function isolateToolchain(toolchain: Toolchain, vault: OpenedVault): Toolchain {
  const shown = [toolchain.prefix, ...toolchain.mounts.map(({ source }) => source)];
  const apart = shown.map((path) => vault.findConflict(path)).find((reason) => reason !== undefined);
  return apart === undefined ? toolchain : { ...toolchain, unusable: apart };
}

function verifyIsolated(workspace: string, vault: OpenedVault): void {
  const apart = vault.findConflict(workspace);
  if (apart !== undefined) throw new KernelError("PATH_ESCAPE", `the workspace cannot be used: ${apart}`);
}
