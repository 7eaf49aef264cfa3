import assert from "node:assert/strict";
import { chown, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { createTestHome, type Serving, type TestHome } from "../../cli/home.ts";

/** The two revisions, as a client asks for them. */
export const REVISIONS = ["legacy", "auto"] as const;
export type Revision = (typeof REVISIONS)[number];
export const NAMES: Readonly<Record<Revision, string>> = { legacy: "previous", auto: "current" };

const RULES = `
@id("free")
permit(principal, action in [Action::"echo", Action::"file_read", Action::"file_write", Action::"result_read"], resource);
@id("not-that-file")
forbid(principal, action == Action::"file_write", resource) when { context.path == "never" };
@id("shell") @approve("none")
permit(principal, action == Action::"shell_exec", resource);
@id("ask-delete") @approve("human") @message("deleting needs a person")
permit(principal, action == Action::"file_delete", resource);
@id("console-move") @approve("console")
permit(principal, action == Action::"file_move", resource);
@id("listed-and-forbidden")
permit(principal, action == Action::"file_edit", resource);
@id("no-edits")
forbid(principal, action == Action::"file_edit", resource);
@id("small-hashes")
permit(principal, action == Action::"hash", resource) when { context.input has data && context.input.data == "small" };
`;

const CONFIGURATION = "mcp: { elicitation: approvals }\ntimeouts: { approval_wait_ms: 2500 }\n";

export interface ServedMcp {
  readonly at: TestHome;
  readonly serving: Serving;
  readonly url: URL;
  readonly session: { readonly id: string; readonly token: string };
  connect(options: ConnectOptions): Promise<Client>;
  stop(): Promise<void>;
}

export interface ConnectOptions {
  readonly revision: Revision;
  readonly token?: string;
  readonly client?: ClientOptions;
}

/** A served kernel with rules of its own, and clients of its MCP door. */
export async function serveMcp(): Promise<ServedMcp> {
  const at = await createTestHome();
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  await at.ask(["init"]);
  await writeFile(join(at.home, "policy/default.cedar"), RULES, { mode: 0o600 });
  await writeFile(join(at.home, "narthex.yaml"), CONFIGURATION, { mode: 0o600 });
  const serving = await at.serve();
  const session = await at.openSession();
  const url = new URL("/mcp", String(serving.ready["listen"]));
  const clients: Client[] = [];
  return {
    at,
    serving,
    url,
    session,
    async connect({ revision, token = session.token, client: options = {} }) {
      const client = new Client({ name: "test", version: "1" }, { ...options, versionNegotiation: { mode: revision } });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      clients.push(client);
      return client;
    },
    async stop() {
      await Promise.all(clients.map((client) => client.close()));
      assert.equal(await serving.stop(), 0);
      await at.remove();
    },
  };
}

/** A client of `narthex mcp`, which goes through the kernel that holds the home, if one does. */
export async function connectStdio(at: TestHome, { revision, client: options = {} }: ConnectOptions): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { ...options, versionNegotiation: { mode: revision } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [at.program, "mcp", "--workspace", at.workspace],
    env: { HOME: at.root, NARTHEX_DATA: at.home, PATH: process.env["PATH"] ?? "" },
  });
  await client.connect(transport);
  return client;
}

/** The processes of this machine that were started with such an argument. */
export async function processesWith(argument: string): Promise<string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, "utf8").catch(() => "")));
  return ids.filter((_, at) => lines[at]?.split("\0").includes(argument));
}

/** Starts a command that sleeps for ever, cancels it once it is heard of and runs, and waits until it is gone. */
export async function cancelSleeping(client: Client, seconds: string): Promise<string[]> {
  const cancelling = new AbortController();
  const heard: string[] = [];
  const command = `echo begun; sleep ${seconds}; echo over`;
  const calling = client.callTool(
    { name: "shell_exec", arguments: { command, timeout_ms: 200_000 } },
    {
      signal: cancelling.signal,
      onprogress({ message = "" }) {
        heard.push(message);
        void until(async () => (await processesWith(seconds)).length > 0).then(() => cancelling.abort());
      },
    },
  );
  await assert.rejects(calling);
  await until(async () => (await processesWith(seconds)).length === 0);
  return heard;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export function textIn(content: unknown, at = 0): string {
  assert.ok(Array.isArray(content), "no content");
  return String(fieldOf(content[at] as JsonValue, "text"));
}

export function fieldOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  assert.ok(isJsonObject(value ?? null), `no object with ${key}`);
  return (value as JsonObject)[key];
}
