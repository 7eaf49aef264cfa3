import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonValue } from "@narthex/contracts";
import type { Capability } from "@narthex/kernel";
import type { OpenKernelOptions } from "narthex";
import type { SocketKernel, SocketSession } from "../../doors/socket-kernel.ts";
import type { SocketAnswer } from "../../doors/socket-session.ts";
import { createVaultKernel, type VaultKernel } from "../../tools/vault-kernel.ts";

/** Nobody is asked: what a person would say is not what is attacked here. */
const POLICY = [
  "vault_copyto",
  "shell_exec",
  "shell_spawn",
  "artifact_publish",
  "db_query_write",
  "git_checkout",
  "git_add",
  "git_commit",
]
  .map((action) => `@id("test-${action}") @approve("none") permit(principal, action == Action::"${action}", resource);`)
  .join("\n");

/** A kernel whose sessions try to get rid of a label. */
export interface LabelledHome extends AsyncDisposable {
  readonly at: VaultKernel;
  /** A new workspace with a file that is secret, `.env` unless told otherwise. */
  workspace(secret?: string): Promise<string>;
  open(workspace: string, kernel?: SocketKernel): Promise<SocketSession>;
  /** A session that has read a secret. */
  openDirty(workspace: string, secret?: string): Promise<SocketSession>;
  /** What the tool answered, if it did. */
  done(session: SocketSession, tool: string, input: JsonValue): Promise<SocketAnswer>;
  /** Fails unless the call carries the label, and whatever the session does next. */
  assertSecret(session: SocketSession, tool: string, input: JsonValue): Promise<void>;
  /** Fails unless a session that has done nothing yet gets the label by reading this file. */
  assertSecretFile(workspace: string, path: string): Promise<void>;
  /** Puts a file there, as somebody outside the kernel would. */
  put(path: string, content: string): Promise<void>;
}

export async function createLabelledHome(options: OpenKernelOptions = {}): Promise<LabelledHome> {
  const at = await createVaultKernel({ policies: [{ name: "labels.cedar", text: POLICY }], ...options });
  let workspaces = 0;

  async function open(workspace: string, kernel = at.kernel): Promise<SocketSession> {
    return await kernel.session({ workspace, lease: { capabilities: rightsIn(workspace) } });
  }

  async function done(session: SocketSession, tool: string, input: JsonValue): Promise<SocketAnswer> {
    const result = await session.call(tool, input);
    assert.equal(result.status, "success", `${tool}: ${JSON.stringify(result.response.result.value, plain)}`);
    return result;
  }

  const home: LabelledHome = {
    at,
    open,
    done,
    async put(path, content) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      await at.own();
    },
    async workspace(secret = ".env") {
      const made = join(at.workspace, `w${++workspaces}`);
      await home.put(join(made, secret), "PASSWORD=hunter2\n");
      return made;
    },
    async openDirty(workspace, secret = ".env") {
      const session = await open(workspace);
      const { metadata } = await done(session, "file_read", { path: join(workspace, secret) });
      assert.deepEqual(metadata.labels, ["secret"]);
      return session;
    },
    async assertSecret(session, tool, input) {
      const { metadata } = await done(session, tool, input);
      assert.deepEqual(metadata.labels, ["secret"], `${tool} ${JSON.stringify(input)}`);
      assert.deepEqual((await at.kernel.getSession(session.id))?.session.labels, ["secret"]);
      assert.deepEqual((await session.call("echo", "next")).metadata.labels, ["secret"]);
    },
    async assertSecretFile(workspace, path) {
      await home.assertSecret(await open(workspace), "file_read", { path });
    },
    [Symbol.asyncDispose]: () => at[Symbol.asyncDispose](),
  };
  return home;
}

function rightsIn(workspace: string): Capability[] {
  return [
    { kind: "vault", prefixes: ["/"] },
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
    ...(["exec", "git", "artifact", "db_read", "db_write"] as const).map((kind) => ({ kind, names: ["*"] })),
  ];
}

function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}
