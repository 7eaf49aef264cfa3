import { realpathSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { isAbsolute, normalize } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { Vault, WorkspaceFiles } from "@narthex/kernel";
import { currentIdentity, identityUnder } from "../sandbox/workspace-identity.ts";
import { containsPath } from "../toolchains/path-containment.ts";
import { findReadProblem } from "../toolchains/path-access.ts";

export interface VaultOptions {
  /** Path as configured. */
  readonly directory: string;
  readonly kernelHome: string;
  readonly files: WorkspaceFiles;
}

export interface OpenedVault extends Vault {
  /** Real path if the directory exists. */
  readonly directory: string;
  /**
   * Returns why a directory must not be mounted into a sandbox: it contains the vault, or is inside it. Undefined if it
   * may be mounted.
   */
  findConflict(directory: string): string | undefined;
  /** Returns why nothing can be copied out of the vault now, with what to do; undefined if the vault can be read. */
  findAccessProblem(): Promise<string | undefined>;
}

/** Every sandbox sees these directories, or parts of them. */
const SYSTEM_TREES = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives"];
const AUTHORITIES = ["/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/var/lib/ca-certificates"];
const FORBIDDEN_DIRECTORIES = [...SYSTEM_TREES, ...AUTHORITIES, "/proc", "/sys", "/dev", "/var/cache/narthex"];

/**
 * Opens the vault. Throws CONFIG_INVALID if the directory is, contains or is inside a directory that tools see or that
 * the kernel uses.
 */
export function openVault({ directory, kernelHome, files }: VaultOptions): OpenedVault {
  if (!isAbsolute(directory) || normalize(directory) !== directory || directory.endsWith("/")) {
    throw invalid(directory, "is no absolute path without `.`, `..` and a `/` at its end");
  }
  const real = realPathOf(directory);
  const home = realPathOf(kernelHome);
  const near = [...FORBIDDEN_DIRECTORIES, home].find((path) => containsPath(real, path) || containsPath(path, real));
  if (near !== undefined) throw invalid(directory, `overlaps \`${near}\`; give it a directory of its own`);

  async function whyClosed(): Promise<string | undefined> {
    const found = await stat(real).catch(() => undefined);
    if (found?.isDirectory() !== true)
      return `the vault \`${directory}\` is no directory: make it, and put files into it`;
    const { identity } = identityUnder(found, real, currentIdentity());
    const closed = await findReadProblem(real, identity);
    return closed && `${closed}: give the vault to a user of its own, such as \`chown -R ${identity.uid} ${real}\``;
  }

  return {
    directory: real,
    findConflict: (path) =>
      containsPath(path, real) ? "it holds the vault" : containsPath(real, path) ? "it lies in the vault" : undefined,
    findAccessProblem: whyClosed,
    async prepareRead({ path, workspace }, signal) {
      const closed = await whyClosed();
      if (closed !== undefined) throw new KernelError("SANDBOX_UNAVAILABLE", closed);
      // SECURITY: if the vault were replaced by a link, its worker would mount another directory.
      if ((await realpath(directory)) !== real) {
        throw new KernelError("SANDBOX_ERROR", "the vault was moved since the kernel started; start it again");
      }
      if (containsPath(workspace, real) || containsPath(real, workspace)) {
        throw new KernelError("PATH_ESCAPE", "the workspace and the vault overlap; open a session elsewhere");
      }
      return await files.prepare(
        { workspace: real, access: "read" },
        { kind: "read", path, offset: 0, limit: 0 },
        signal,
      );
    },
  };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function invalid(directory: string, why: string): KernelError {
  return new KernelError("CONFIG_INVALID", `\`vault\`: \`${directory.slice(0, 200)}\` ${why}`);
}
