import { chmod, chown, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createKernel, type KernelSession, type NarthexKernel, type OpenKernelOptions } from "narthex";
import { vaultRights } from "./vault-kernel.ts";

/** For the gate, and named by a tool. */
export const SITE_TOKEN = "newAAbbccddeeffZZZ99tok";
/** Configured, and used by nothing. */
export const TOOL_TOKEN = "tool/only+QQww11==é";
/** A command of its own, if it were read as a part of one. */
export const ODD_TOKEN = "x; touch owned-by-secret #1";
export const VAULT_LINE = "vaultPassword-7yT5rE4wQ1";

const RULE = '@id("test-all") @approve("none") permit(principal, action, resource);\n';
const OWNER = process.getuid?.() === 0 ? 1000 : undefined;

/** A home with secrets and a vault, and a workspace. */
export interface SecretHome extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  open(options?: OpenKernelOptions): Promise<NarthexKernel>;
  session(kernel: NarthexKernel): Promise<KernelSession>;
  /** A file of the workspace, as a person would put it there. */
  put(path: string, content: string): Promise<void>;
}

export async function createSecretHome(): Promise<SecretHome> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "narthex-secrets-")));
  await chmod(root, 0o755);
  const [home, vault, workspace] = [join(root, "home"), join(root, "secrets/vault"), join(root, "workspace")];
  for (const path of [home, vault, workspace]) await mkdir(path, { recursive: true });
  const kept = { site_token: SITE_TOKEN, tool_token: TOOL_TOKEN, odd_token: ODD_TOKEN };
  for (const [name, value] of Object.entries(kept)) await writeFile(join(root, "secrets", name), value);
  const sources = Object.keys(kept).map((name) => `  ${name}: { file: ${join(root, "secrets", name)} }`);
  await writeFile(
    join(home, "narthex.yaml"),
    `secrets:\n${sources.join("\n")}\nnetwork: { secrets: { site_token: ["example.com"] } }\nvault: ${vault}\n`,
  );
  await writeFile(join(vault, "key"), `PASSWORD=${VAULT_LINE}\n`, { mode: 0o600 });
  await writeFile(join(vault, "large"), `${VAULT_LINE} ${"filling ".repeat(20_000)}\n`, { mode: 0o600 });
  const own = async (path: string): Promise<void> => {
    if (OWNER === undefined) return;
    await chown(path, OWNER, OWNER);
    for (const name of await readdir(path).catch(() => [])) await own(join(path, name));
  };
  await own(vault);
  await own(workspace);
  return {
    root,
    home,
    workspace,
    open: (options = {}) => createKernel({ data: home, policies: [{ name: "test.cedar", text: RULE }], ...options }),
    session: (kernel) => kernel.session({ workspace, lease: { capabilities: vaultRights(workspace) } }),
    async put(path, content) {
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await writeFile(join(workspace, path), content);
      await own(workspace);
    },
    async [Symbol.asyncDispose]() {
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The forms that honest programs write a secret in. */
export function formsOf(name: string, secret: string): Record<string, string> {
  const bytes = Buffer.from(secret);
  return {
    [name]: secret,
    [`${name} as JSON`]: JSON.stringify(secret).slice(1, -1),
    [`${name} as a URL`]: encodeURIComponent(secret),
    [`${name} as hex`]: bytes.toString("hex"),
    // Without its end, which depends on what follows.
    [`${name} as base64`]: bytes.toString("base64").slice(0, Math.floor(bytes.length / 3) * 4),
  };
}

export async function exported(kernel: NarthexKernel): Promise<Buffer> {
  const { signal } = new AbortController();
  return Buffer.concat(await Array.fromAsync(kernel.exportLedger("", signal)));
}

export async function readWorkspace(at: SecretHome, path: string): Promise<string> {
  return await readFile(join(at.workspace, path), "utf8");
}
