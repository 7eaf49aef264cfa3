import assert from "node:assert/strict";
import { chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  createTestHome,
  objectsOf,
  parseObject,
  readLines,
  type Running,
  type TestHome,
  textOf,
} from "../../cli/home.ts";
import type { Revision } from "./served-mcp.ts";

export const RULES = `
@id("free")
permit(principal, action in [Action::"echo", Action::"file_read", Action::"file_write"], resource);
@id("shell") @approve("none")
permit(principal, action == Action::"shell_exec", resource);
@id("ask-delete") @approve("human")
permit(principal, action == Action::"file_delete", resource);
`;

const CONFIGURATION = "mcp: { elicitation: approvals }\ntimeouts: { approval_wait_ms: 120000 }\n";

/** A client that starts its own `narthex mcp`, as editors do. */
export interface ClientProcess {
  readonly agent: string;
  readonly client: Client;
  /** Of the `narthex mcp` it started. */
  readonly pid: number;
  /** How often it was told that the tools changed. */
  toolsChanged(): number;
}

export interface ClientChoices {
  readonly agent: string;
  readonly revision: Revision;
  readonly options?: ClientOptions;
}

/** A home with rules for these tests that nobody holds yet. */
export async function createSharedHome(): Promise<TestHome> {
  const at = await createTestHome();
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  await at.ask(["init"]);
  await writeFile(join(at.home, "policy/default.cedar"), RULES, { mode: 0o600 });
  await writeFile(join(at.home, "narthex.yaml"), CONFIGURATION, { mode: 0o600 });
  return at;
}

export async function startClient(at: TestHome, choices: ClientChoices): Promise<ClientProcess> {
  const { agent } = choices;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [at.program, "mcp", "--workspace", at.workspace, "--agent", agent],
    env: { HOME: at.root, NARTHEX_DATA: at.home, PATH: process.env["PATH"] ?? "" },
    stderr: "ignore",
  });
  const { client, toolsChanged } = createClient(choices);
  await client.connect(transport);
  return { agent, client, pid: transport.pid ?? assert.fail("no process"), toolsChanged };
}

/** The same with a client that comes over HTTP to a `narthex mcp --http` of its own. */
export async function startHttpClient(
  at: TestHome,
  choices: ClientChoices,
): Promise<ClientProcess & { readonly child: Running; readonly url: string; readonly token: string }> {
  const { agent } = choices;
  const args = ["mcp", "--workspace", at.workspace, "--agent", agent, "--http", "127.0.0.1:0", "--json"];
  const child = at.start(args);
  const ready = parseObject(await readLines(child)());
  const [url, token] = [textOf(ready["url"]), textOf(ready["token"])];
  const { client, toolsChanged } = createClient(choices);
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return { agent, client, pid: child.pid ?? assert.fail("no process"), toolsChanged, child, url, token };
}

function createClient({ agent, revision, options = {} }: ClientChoices) {
  let changes = 0;
  const listChanged = { tools: { autoRefresh: false, onChanged: () => void changes++ } };
  const client = new Client(
    { name: agent, version: "1" },
    { ...options, listChanged, versionNegotiation: { mode: revision } },
  );
  return { client, toolsChanged: () => changes };
}

/** The process that holds the home. */
export async function holderOf(at: TestHome): Promise<number> {
  const { pid } = parseObject(await readFile(join(at.home, "run/holder.json"), "utf8"));
  return Number(pid);
}

/** The open sessions, by agent. */
export async function sessionsOf(at: TestHome): Promise<Record<string, string>> {
  const sessions = objectsOf((await at.ask(["session", "list"]))["sessions"]);
  return Object.fromEntries(sessions.map((session) => [textOf(session["agent"]), textOf(session["session_id"])]));
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}
