import { createReconnectingCaller } from "../connection/reconnecting-caller.ts";
import { openReconnectingLink } from "../connection/reconnecting-link.ts";
import { readMcpOptions } from "../connection/mcp-listing.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { createLineLogger } from "../terminal/line-logger.ts";
import { reportError } from "../terminal/report-error.ts";
import { VERSION } from "../version.ts";
import type { Command, Invocation } from "./command.ts";
import { checkOwnCode } from "./own-code-option.ts";
import { checkWritable } from "../connect/check-workspace-owner.ts";
import { readSessionOptions, SESSION_OPTIONS } from "./session-options.ts";

export const mcpCommand: Command = {
  details:
    "Opens a session for as long as the client stays. Calls go through the kernel of the home; where none runs, one is started " +
    "that other clients share and that ends by itself once the last one has left (timeouts.idle_ms). When the kernel ends " +
    "before, another is found or started and the session goes on. Nothing but the protocol is written on the output stream. " +
    "With --http any number of clients use the session at http://ADDRESS/mcp, with its token.",
  endsOnClosedOutput: true,
  options: [
    ...SESSION_OPTIONS,
    { flags: "--http <host:port>", description: "serve Streamable HTTP here instead of standard input and output" },
  ],
  examples: [
    "narthex mcp --workspace ~/project --agent claude",
    "narthex mcp --workspace ~/project --http 127.0.0.1:7412",
  ],

  async run(invocation) {
    const address = invocation.options.text("http");
    if (address !== undefined) return (await import("./serve-mcp-http.ts")).serveMcpHttp(invocation, address);
    // SECURITY: the client parses the output stream, so not even a JSON error may go there.
    const terminal = { ...invocation.terminal, json: false };
    try {
      return await serveClient({ ...invocation, terminal });
    } catch (error) {
      return reportError(error, terminal, "narthex mcp");
    }
  },
};

async function serveClient(invocation: Invocation): Promise<number> {
  const { terminal, environment, home, signal } = invocation;
  const request = await readSessionOptions(invocation);
  const allowOwnCode = (await checkOwnCode(invocation, request.workspace)) === "allow";
  await checkWritable(request);
  const log = createLineLogger(terminal, environment);
  // The largest part of this command; it loads while the kernel starts or opens the session.
  const loadServer = () => import("@narthex/server/mcp-stdio");
  const meanwhile = (): void => void loadServer().catch(() => undefined);
  const link = await openReconnectingLink({
    home,
    environment,
    request,
    renew: true,
    log,
    allowOwnCode,
    signal,
    onWait: meanwhile,
  });
  try {
    const { serveMcpStdio } = await loadServer();
    const caller = createReconnectingCaller(link);
    // The reconnecting caller checks with each kernel whether elicitation is allowed.
    const elicitation = true;
    const { watchTools } = caller;
    const listing = await readMcpOptions(home);
    const door = serveMcpStdio({ caller, watchTools, elicitation, ...listing, version: VERSION, log });
    const stop = (): void => void door.close();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await door.closed;
    return EXIT_OK;
  } finally {
    await link.close();
  }
}
