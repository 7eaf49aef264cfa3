import { createLocalConnection } from "../connection/local-connection.ts";
import { keepToken } from "../connection/session-token.ts";
import { openKernel } from "../open-kernel.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK, EXIT_UNAVAILABLE } from "../terminal/exit-code.ts";
import { createLineLog } from "../terminal/log-lines.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Invocation } from "./command.ts";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { readSessionOptions } from "./session-options.ts";

/** How long whoever holds the home is waited for. */
const WAIT_MS = 5000;

/** Holds the home and serves MCP over HTTP until it is told to stop, to a session of its own. */
export async function serveMcpHttp(invocation: Invocation, address: string): Promise<number> {
  const { terminal, environment, home, signal } = invocation;
  const listen = parseListenAddress(address);
  const request = await readSessionOptions(invocation);
  const log = createLineLog(terminal, environment);
  const failure = Promise.withResolvers<Error>();
  const kernel = await openKernel({
    data: home,
    command: "mcp",
    waitMs: WAIT_MS,
    log,
    onFailure: failure.resolve,
  }).catch((error: unknown) => {
    throw isHomeBusy(error) ? heldElsewhere(error) : error;
  });
  try {
    const { services } = await kernel.openDoors([listen]);
    const bound = services.find((service) => "host" in service) ?? listen;
    const { session, token } = await createLocalConnection(kernel).openSession(request);
    const tokenFile = await keepToken(session.sessionId, token, environment);
    const url = `${formatListenAddress("host" in bound ? bound : listen)}/mcp`;
    if (terminal.json) {
      terminal.printJsonLine({ url, session_id: session.sessionId, token, token_file: tokenFile });
    } else {
      terminal.print(
        ...renderFacts([
          ["mcp", url],
          ["session", session.sessionId],
          ["token", `kept in ${tokenFile}`],
        ]),
        "",
        "Clients send it as `Authorization: Bearer TOKEN`. Ctrl-C stops it.",
      );
    }
    const failed = await Promise.race([failure.promise, aborted(signal)]);
    await kernel.closeSession(session.sessionId).catch(() => undefined);
    return failed === undefined ? EXIT_OK : EXIT_UNAVAILABLE;
  } finally {
    await kernel.close();
  }
}

function isHomeBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "HOME_BUSY";
}

function heldElsewhere(cause: unknown): CommandError {
  return new CommandError("HOME_BUSY", "a kernel runs on this home already", {
    cause,
    next: "use the address that `narthex serve` names, with /mcp after it and the token of a session",
  });
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
