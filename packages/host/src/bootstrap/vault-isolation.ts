import { KernelError } from "@narthex/contracts";
import type { WorkspaceFiles } from "@narthex/kernel";
import type { ProgramsOptions } from "../programs/create-programs.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";
import type { OpenedVault } from "./open-vault.ts";

type FindToolchains = ProgramsOptions["findToolchains"];

/**
 * Keeps the vault out of every sandbox but its own.
 *
 * SECURITY: no session is opened on a workspace that overlaps the vault. But a session lasts longer than a kernel: one
 * that was opened before the vault was configured is refused here, with each call.
 */
export function isolateFiles(files: WorkspaceFiles, vault: OpenedVault): WorkspaceFiles {
  return {
    async prepare(place, operation, signal) {
      verifyIsolated(place.workspace, vault);
      return await files.prepare(place, operation, signal);
    },
  };
}

/** Looks at a workspace before each operation: a session lasts longer than the kernel that it was opened at. */
export function withWorkspaceCheck(files: WorkspaceFiles, check: (workspace: string) => Promise<void>): WorkspaceFiles {
  return {
    async prepare(place, operation, signal) {
      await check(place.workspace);
      return await files.prepare(place, operation, signal);
    },
  };
}

/** The same for programs, which start with the toolchains of their workspace. */
export function isolateToolchains(find: FindToolchains, vault: OpenedVault): FindToolchains {
  return async (place) => {
    verifyIsolated(place.workspace, vault);
    return (await find(place)).map((toolchain) => isolateToolchain(toolchain, vault));
  };
}

/** A prefix on the user's PATH may hold the vault as well. */
function isolateToolchain(toolchain: Toolchain, vault: OpenedVault): Toolchain {
  const shown = [toolchain.prefix, ...toolchain.mounts.map(({ source }) => source)];
  const apart = shown.map((path) => vault.findConflict(path)).find((reason) => reason !== undefined);
  return apart === undefined ? toolchain : { ...toolchain, unusable: apart };
}

function verifyIsolated(workspace: string, vault: OpenedVault): void {
  const apart = vault.findConflict(workspace);
  if (apart !== undefined) throw new KernelError("PATH_ESCAPE", `the workspace cannot be used: ${apart}`);
}
