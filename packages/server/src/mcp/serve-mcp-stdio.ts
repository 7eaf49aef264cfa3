import type { Readable, Writable } from "node:stream";
import { type CallToolResult, Server, type ServerContext, type Tool } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { isKernelError, type JsonObject, KernelError } from "@narthex/contracts";
import type { Log } from "@narthex/kernel";
import type { McpCaller, McpCallOptions } from "./mcp-caller.ts";
import { toMcpResult } from "./mcp-result.ts";
import { outputSchemaOf, toMcpTool } from "./mcp-tool.ts";
import { StrictStdioTransport } from "./strict-stdio-transport.ts";

export interface McpStdioOptions {
  readonly caller: McpCaller;
  /** Of the kernel; shown to clients. */
  readonly version: string;
  readonly instructions?: string;
  /** The process's own by default. */
  readonly input?: Readable;
  readonly output?: Writable;
  readonly maxLineBytes?: number;
  /** Calls that may run at once; more wait in the pipe. */
  readonly maxCalls?: number;
  readonly log?: Log;
}

export interface McpStdioDoor {
  /** Resolves when the client has gone or the door was closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_CALLS = 256;

/** Gives a session's tools to one MCP client over stdin and stdout, in the current and the previous revision. */
export function serveMcpStdio(options: McpStdioOptions): McpStdioDoor {
  const { caller, version, instructions, log, maxCalls = MAX_CALLS } = options;
  const output = options.output === undefined ? takeStdout() : { stream: options.output };
  let ended: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const transport = new StrictStdioTransport({
    input: options.input ?? process.stdin,
    output: output.stream,
    ...("write" in output ? { write: output.write } : {}),
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
    onRefused: (reason, bytes) => caller.refuse(reason, bytes),
  });
  const listed = createToolList(caller);
  let calls = 0;

  const handle = serveStdio(createServer, {
    transport,
    onerror: (error) => log?.("warn", "the MCP connection reported an error", { error: error.message }),
  });
  // The entry has put its own callback there; both are needed.
  const closeEntry = transport.onclose;
  transport.onclose = () => {
    closeEntry?.();
    if ("restore" in output) output.restore();
    ended();
  };

  function createServer(): Server {
    const server = new Server(
      { name: "narthex", title: "Narthex", version },
      { capabilities: { tools: {} }, ...(instructions === undefined ? {} : { instructions }) },
    );
    server.setRequestHandler("tools/list", async () => ({ tools: await listed.refresh() }));
    server.setRequestHandler("tools/call", (request, context) =>
      call(request.params.name, transport.argumentsOf(context.mcpReq.id), context),
    );
    return server;
  }

  async function call(name: string, input: JsonObject | undefined, context: ServerContext): Promise<CallToolResult> {
    if (++calls >= maxCalls) transport.pause();
    try {
      if (input === undefined) throw new KernelError("CANCELLED", "the call was cancelled before it began");
      const isStructured = await listed.isStructured(name);
      const response = await caller.call(name, input, callOptions(context));
      return toMcpResult(response, { isStructured });
    } catch (fault) {
      if (!isKernelError(fault)) log?.("error", "a call over MCP failed", { tool: name });
      const text = isKernelError(fault) ? `${fault.code}: ${fault.message}` : "INTERNAL: the call failed";
      return { content: [{ type: "text", text }], isError: true };
    } finally {
      if (--calls < maxCalls) transport.resume();
    }
  }

  return { closed, close: () => handle.close() };
}

/** What the client was told about tools: a result must have the structure that its listing promised. */
function createToolList(caller: McpCaller) {
  let structured: ReadonlySet<string> | undefined;
  return {
    async refresh(): Promise<Tool[]> {
      const infos = await caller.listTools();
      structured = new Set(infos.filter((info) => outputSchemaOf(info) !== undefined).map((info) => info.name));
      return infos.map(toMcpTool).filter((tool) => tool !== undefined);
    },
    async isStructured(name: string): Promise<boolean> {
      if (structured === undefined) await this.refresh();
      return structured?.has(name) ?? false;
    },
  };
}

function callOptions({ mcpReq }: ServerContext): McpCallOptions {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { signal: mcpReq.signal };
  let progress = 0;
  return {
    signal: mcpReq.signal,
    onChunk: (chunk) => {
      progress += chunk.length;
      return mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
    },
  };
}

/** SECURITY: stdout carries the protocol and nothing else; what a library or a tool prints goes to stderr. */
function takeStdout() {
  const { stdout, stderr } = process;
  const original = stdout.write;
  stdout.write = stderr.write.bind(stderr);
  return {
    stream: stdout,
    write: (line: string): boolean => original.call(stdout, line),
    restore: () => {
      stdout.write = original;
    },
  };
}
