import { randomBytes } from "node:crypto";
import { create, createId, ToolRequestSchema } from "@narthex/contracts";
import { withCallConnection } from "../connection/open-connection.ts";
import { findToken } from "../connection/session-token.ts";
import { usageError } from "../terminal/command-error.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visibleLines } from "../terminal/visible.ts";
import { announceApproval } from "./approval-notice.ts";
import { createTerminalApprover } from "./terminal-approver.ts";
import { adviseCall } from "./call-advice.ts";
import { readCallInput } from "./call-input.ts";
import { fetchResult, resultToJson } from "./call-result.ts";
import { exitCodeOfResponse, printResponse, responseToJson } from "./call-view.ts";
import type { Command } from "./command.ts";
import { parseToolName } from "./tool-name.ts";

export const callCommand: Command = {
  details:
    "Goes through the kernel that holds the home, else opens its store for this one call, and asks on this terminal what " +
    "needs an approval. A call that waits for a person says so on the error stream, with the command that answers it. " +
    "At a terminal a program's output is printed as text, and its exit code if that is not 0; a pipe gets the result as the " +
    "tool gave it, and --json adds what is known about the call. " +
    "The session is the one named, " +
    "or that of NARTHEX_TOKEN, or the first session of `narthex serve`.",
  arguments: [
    { name: "<tool>", description: "NAME, or NAME@VERSION" },
    { name: "[json]", description: "its input as JSON; @FILE reads a file, - standard input (default: {})" },
  ],
  options: [
    { flags: "--session <id>", description: "the session that calls: an id, or @FILE holding its token" },
    { flags: "--request-id <id>", description: "unique in its session; the same id and input answer again" },
    { flags: "--dedupe-key <key>", description: "a finished call under this key answers again" },
    { flags: "--timeout <duration>", description: "give up after this long, such as 10s" },
    { flags: "--stream", description: "print output while the tool runs" },
    { flags: "--out <file>", description: "write the result to this file" },
  ],
  examples: [
    `narthex call echo '{"text":"hello"}' --session ses_abcdefghij234567abcd`,
    "narthex call hash @input.json --json",
  ],

  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const { name, version } = parseToolName(invocation.arguments[0] ?? "");
    const streamed = options.flag("stream");
    const out = options.text("out");
    if (streamed && out !== undefined) throw usageError("--stream and --out exclude each other");
    const token = await findToken(invocation);
    const [, argument] = invocation.arguments;
    const input = await readCallInput(argument, invocation);
    const request = create(ToolRequestSchema, {
      requestId: options.text("request-id") ?? createId("req", randomBytes),
      sessionToken: token,
      dedupeKey: options.text("dedupe-key") ?? "",
      tool: {
        case: "call",
        value: { name, version, input },
      },
    });
    const timeoutMs = options.durationMs("timeout");
    const { home, environment } = invocation;
    const reaching = { home, environment, signal, terminal, approver: createTerminalApprover(terminal) };
    return withCallConnection(reaching, "call", async (kernel) => {
      const printer = createChunkPrinter(terminal);
      const notice = announceApproval(request, invocation);
      const response = await kernel
        .call(request, {
          signal,
          ...(timeoutMs === undefined ? {} : { timeoutMs }),
          ...(streamed ? { onChunk: printer.print } : {}),
        })
        .finally(notice.stop);
      const { result } = response;
      const fetched = result.case === "success" && !printer.used;
      const place = fetched ? await fetchResult(result.value, kernel, { token, out }) : undefined;
      if (!terminal.json) {
        const next = await adviseCall(response, { tool: name, argument, input, token, home }, kernel);
        await printResponse(response, { place, next }, terminal);
      }
      // With JSON, streamed output is one object per line, and the response is the last line.
      else if (streamed) terminal.printJsonLine(responseToJson(response, place));
      else terminal.printJson(responseToJson(response, place));
      return exitCodeOfResponse(response);
    });
  },
};

/** SECURITY: a tool's output reaches a terminal only with its control characters made visible. */
function createChunkPrinter(terminal: Terminal) {
  const decoder = new TextDecoder();
  const show = (chunk: Uint8Array): Promise<void> | void => {
    if (terminal.json) return terminal.printJsonLine({ chunk: resultToJson("stream", chunk) });
    if (!terminal.outputIsTerminal) return terminal.writeBytes(chunk);
    return terminal.writeBytes(Buffer.from(visibleLines(decoder.decode(chunk, { stream: true }))));
  };
  const printer = {
    /** Whether the tool streamed any output; if not, its result is printed at the end. */
    used: false,
    async print(chunk: Uint8Array): Promise<void> {
      printer.used = true;
      await show(chunk);
    },
  };
  return printer;
}
