import type { PreparedOperation } from "./workspace-files.ts";

/**
 * A directory of secrets that no tool can see: its files are copied into workspaces one at a time, each by a call.
 *
 * SECURITY: it is read by a worker whose sandbox contains the vault and no workspace. As with workspaces, the opened
 * file is reported before a byte is read.
 */
export interface Vault {
  /** Opens a file of the vault without reading it. Throws a KernelError with the code of the problem. */
  prepareRead(request: VaultRequest, signal: AbortSignal): Promise<PreparedOperation>;
}

export interface VaultRequest {
  /** Relative to the vault's root, with `/` between components. */
  readonly path: string;
  /** Workspace that the content is copied to; must not be the location of the vault itself. */
  readonly workspace: string;
}
