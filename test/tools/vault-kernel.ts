import { chmod, chown, lchown, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonValue } from "@narthex/contracts";
import type { Capability } from "@narthex/kernel";
import type { CallResult, OpenKernelOptions } from "narthex";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";

/** A kernel with a vault, and a session that may copy all of it. */
export interface VaultKernel extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly vault: string;
  readonly workspace: string;
  readonly kernel: SocketKernel;
  readonly session: SocketSession;
  at(path: string): string;
  /** Puts a file into the vault. */
  hide(path: string, content: string | Uint8Array): Promise<void>;
  /** Gives everything in vault and workspace to whom it belongs. */
  own(): Promise<void>;
  open(capabilities?: readonly Capability[], workspace?: string): Promise<SocketSession>;
}

const OWNER = process.getuid?.() === 0 ? 1000 : undefined;
/** Attacks are violations, and many of them would otherwise end the session before the last. */
export const MANY_VIOLATIONS = "session: {quarantine: {violations: 1000, window_ms: 1000}}\n";
export const PERMIT =
  '@id("test-vault") @approve("none") permit(principal, action == Action::"vault_copyto", resource);\n' +
  '@id("test-shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n' +
  '@id("test-publish") permit(principal, action == Action::"artifact_publish", resource);\n';

export async function createVaultKernel(options: OpenKernelOptions = {}): Promise<VaultKernel> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "narthex-vault-")));
  await chmod(root, 0o755);
  const [home, vault, workspace] = [join(root, "home"), join(root, "secrets/vault"), join(root, "workspace")];
  for (const path of [home, vault, workspace]) await mkdir(path, { recursive: true });
  await writeFile(join(home, "narthex.yaml"), `${MANY_VIOLATIONS}vault: ${vault}\n`);
  const own = async (): Promise<void> => {
    await handOver(vault);
    await handOver(workspace);
  };
  await own();
  const policies = [{ name: "test.cedar", text: PERMIT }];
  const kernel = await createKernel({ data: home, policies, ...options });
  const open: VaultKernel["open"] = (capabilities, where = workspace) => {
    return kernel.session({ workspace: where, lease: { capabilities: capabilities ?? vaultRights(where) } });
  };
  return {
    root,
    home,
    vault,
    workspace,
    kernel,
    session: await open(),
    at: (path) => join(workspace, path),
    async hide(path, content) {
      await mkdir(dirname(join(vault, path)), { recursive: true });
      await writeFile(join(vault, path), content, { mode: 0o600 });
      await own();
    },
    own,
    open,
    async [Symbol.asyncDispose]() {
      await kernel.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** All of the vault, and what is done with it in a workspace. */
export function vaultRights(workspace: string): readonly Capability[] {
  return [
    { kind: "vault", prefixes: ["/"] },
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
    { kind: "exec", names: ["*"] },
    { kind: "artifact", names: ["*"] },
  ];
}

/** The code and the text of a refusal or an error; what it answered otherwise. */
export function endOf({ response, raw }: Pick<CallResult, "response" | "raw">): {
  readonly code: string;
  readonly text: string;
  raw?: JsonValue;
} {
  const { result } = response;
  if (result.case === "error") return { code: result.value.errorCode, text: result.value.message };
  if (result.case === "denied") return { code: result.value.rationaleCode, text: result.value.message };
  return { code: "success", text: "", raw: raw as JsonValue };
}

async function handOver(directory: string): Promise<void> {
  if (OWNER === undefined) return;
  await chown(directory, OWNER, OWNER);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), OWNER, OWNER);
  }
}
