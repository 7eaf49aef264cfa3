import type { Readable, Writable } from "node:stream";
import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { runFastPathCall, type McpClient } from "./call-tool.ts";
import { createMcpServer } from "./mcp-server.ts";
import { createMcpSession, type McpSessionOptions } from "./mcp-session.ts";
import type { WatchTools } from "./mcp-source.ts";
import { StrictStdioTransport } from "./strict-stdio-transport.ts";
import { createCoalescedNotifier } from "./coalesced-notifier.ts";

export interface McpStdioOptions extends McpSessionOptions {
  /** Without it the client is never notified of changed tools. */
  readonly watchTools?: WatchTools;
  /** The process's own by default. */
  readonly input?: Readable;
  readonly output?: Writable;
  readonly maxLineBytes?: number;
  /** Maximum number of running requests; further ones wait in the pipe. */
  readonly maxCalls?: number;
}

export interface McpStdioDoor {
  /** Resolves when the client has disconnected or the door was closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const MAX_CALLS = 256;

/** Serves a session's tools to one MCP client over stdin and stdout, in the current and the previous revision. */
export function serveMcpStdio(options: McpStdioOptions): McpStdioDoor {
  const { caller, log } = options;
  const session = createMcpSession(options);
  const output = options.output === undefined ? reserveStdout() : { stream: options.output };
  const ended = Promise.withResolvers<void>();
  const transport = new StrictStdioTransport({
    input: options.input ?? process.stdin,
    output: output.stream,
    ...("write" in output ? { write: output.write } : {}),
    maxLineBytes: options.maxLineBytes ?? MAX_LINE_BYTES,
    maxCalls: options.maxCalls ?? MAX_CALLS,
    runFastPath: (call, gone) => runFastPathCall({ ...call, leavingCancels: false, gone }, session),
    onRefused: (reason, bytes) => caller.refuse(reason, bytes),
  });
  let server: Server | undefined;
  // Requested early, because the client needs the instructions first.
  const instructions = session.instructions();
  const handle = serveStdio(
    async ({ era }) => {
      const argumentsOf = ({ mcpReq }: ServerContext) => transport.argumentsOf(mcpReq.id);
      const onCall = ({ mcpReq }: ServerContext, client: McpClient): void => {
        if (session.elicitation !== true || !client.takesForms) transport.enableFastPath(mcpReq.id);
      };
      // A client that only probed first is served by the last server created.
      const exchange = { era, leavingCancels: false, argumentsOf, onCall, instructions: await instructions };
      server = createMcpServer(session, exchange);
      return server;
    },
    {
      transport,
      onerror: (error) => log?.("warn", "the MCP connection reported an error", { error: error.message }),
    },
  );
  const watching = new AbortController();
  const changed = createCoalescedNotifier(async () => {
    if (await session.tools.hasChanged()) await server?.sendToolListChanged();
  });
  void options.watchTools?.(changed, watching.signal).catch(() => undefined);
  // The SDK has set its own callback; both are needed.
  const closeEntry = transport.onclose;
  transport.onclose = () => {
    watching.abort();
    closeEntry?.();
    if ("restore" in output) output.restore();
    ended.resolve();
  };
  return { closed: ended.promise, close: () => handle.close() };
}

/** SECURITY: stdout carries only the protocol; output of libraries and tools is redirected to stderr. */
function reserveStdout() {
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
