import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import type { LeaseRequest } from "@narthex/kernel";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";

type Result = Awaited<ReturnType<SocketSession["call"]>>;

export const ODD_SERVER = fileURLToPath(new URL("./misbehaving-mcp-server.ts", import.meta.url));
/** As they are installed, to be run as they are. */
const PUBLISHED = {
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
};

/** A home with MCP servers, and a workspace. */
export interface McpHome {
  readonly home: string;
  readonly workspace: string;
  /** Readable by servers that name it among their files. */
  readonly shared: string;
  /** What the kernel logged so far. */
  readonly logged: readonly JsonObject[];
  configure(servers: JsonObject, more?: JsonObject): Promise<void>;
  start(rules?: string): Promise<void>;
  readonly kernel: SocketKernel;
  /** With a lease that gives these servers, whole. */
  open(servers: readonly string[], lease?: LeaseRequest): Promise<McpSession>;
  stop(): Promise<void>;
  remove(): Promise<void>;
}

export interface McpSession {
  readonly session: SocketSession;
  call(tool: string, input?: JsonValue): Promise<Result>;
  /** What a call that went well answered. */
  answer(tool: string, input?: JsonValue): Promise<JsonValue>;
  /** The code and message of one that did not. */
  failure(tool: string, input?: JsonValue): Promise<{ readonly code: string; readonly message: string }>;
}

export async function createMcpHome(): Promise<McpHome> {
  const root = await mkdtemp(join(tmpdir(), "narthex-mcp-home-"));
  await chmod(root, 0o755);
  const [home, workspace, shared] = [join(root, "home"), join(root, "workspace"), join(root, "shared")];
  await mkdir(home, { mode: 0o700 });
  await mkdir(workspace, { mode: 0o700 });
  await mkdir(shared, { mode: 0o755 });
  // As root, programs work as whoever owns the workspace, who must not be root.
  if (process.getuid?.() === 0) await chown(workspace, 1000, 1000);
  const logged: JsonObject[] = [];
  let kernel: SocketKernel | undefined;
  const running = (): SocketKernel => {
    assert.ok(kernel, "the kernel was not started");
    return kernel;
  };
  const at: McpHome = {
    home,
    workspace,
    shared,
    logged,
    configure: (servers, more = {}) =>
      writeFile(join(home, "narthex.yaml"), JSON.stringify({ ...more, mcp_servers: servers }), { mode: 0o600 }),
    async start(rules = "") {
      await at.stop();
      kernel = await createKernel({
        data: home,
        policies: rules === "" ? [] : [{ name: "own.cedar", text: rules }],
        log: (level, message, fields = {}) => logged.push({ level, message, ...(fields as JsonObject) }),
      });
    },
    get kernel() {
      return running();
    },
    open: async (servers, lease = leaseFor(servers, workspace)) =>
      sessionOf(await running().session({ workspace, lease })),
    async stop() {
      await kernel?.close({ graceMs: 0 });
      kernel = undefined;
    },
    async remove() {
      await at.stop();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return at;
}

/** Everything of the workspace, and these servers. */
export function leaseFor(servers: readonly string[], workspace: string): LeaseRequest {
  return {
    tool_patterns: servers.map((server) => `${server}__*`),
    capabilities: [
      { kind: "mcp", names: [...servers] },
      { kind: "fs_read", prefixes: [workspace] },
      { kind: "fs_write", prefixes: [workspace] },
    ],
  };
}

/** Permits these tools without asking anybody. */
export function permits(...tools: readonly string[]): string {
  return tools
    .map((tool) => `@id("test-${tool}") @approve("none") permit(principal, action == Action::"${tool}", resource);`)
    .join("\n");
}

function sessionOf(session: SocketSession): McpSession {
  const call: McpSession["call"] = (tool, input = {}) => session.call(tool, input);
  return {
    session,
    call,
    async answer(tool, input) {
      const { response, raw } = await call(tool, input);
      const { result } = response;
      if (result.case !== "success") assert.fail(`${tool}: ${result.case} ${result.value?.message}`);
      return raw as JsonValue;
    },
    async failure(tool, input) {
      const { result } = (await call(tool, input)).response;
      if (result.case === "denied") return { code: result.value.rationaleCode, message: result.value.message };
      if (result.case === "error") return { code: result.value.errorCode, message: result.value.message };
      return assert.fail(`it was done: ${tool}`);
    },
  };
}

/** A server that is odd in one way. */
export function oddServer(mode: string, file?: string): JsonObject {
  const files = [ODD_SERVER, ...(file === undefined ? [] : [join(file, "..")])];
  return { command: [process.execPath, ODD_SERVER, mode, ...(file === undefined ? [] : [file])], files };
}

/** One of the published servers, with its dependencies. */
export function publishedServer(
  name: keyof typeof PUBLISHED,
  words: readonly string[],
  more: JsonObject = {},
): JsonObject {
  const entry = fileURLToPath(PUBLISHED[name]);
  const modules = entry.slice(0, entry.indexOf("/node_modules/") + "/node_modules".length);
  return { command: [process.execPath, entry, ...words], files: [modules], ...more };
}
