import type { PreparedOperation } from "./workspace-files.ts";

/**
 * A directory of secrets that no tool sees: files of it are copied into workspaces, one at a time and each by a call.
 *
 * SECURITY: it is read by a worker whose sandbox holds the vault and no workspace. As with workspaces, what is held open
 * is reported before a byte is read.
 */
export interface Vault {
  /** Opens a file of the vault, and reads nothing yet. Throws a KernelError with the code of what is wrong. */
  prepareRead(request: VaultRequest, signal: AbortSignal): Promise<PreparedOperation>;
}

export interface VaultRequest {
  /** Relative to the vault's root, with `/` between its parts. */
  readonly path: string;
  /** Where the content is to go: never where the vault itself lies. */
  readonly workspace: string;
}
