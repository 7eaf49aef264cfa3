import { openMcpDoor } from "@narthex/server";
import { createReconnectingCaller } from "../connection/reconnecting-caller.ts";
import { type ReconnectingLink, openReconnectingLink } from "../connection/reconnecting-link.ts";
import { readMcpOptions } from "../connection/mcp-listing.ts";
import { createSingleSessionSource } from "../connection/single-session-source.ts";
import { storeToken } from "../connection/session-token.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { createLineLogger } from "../terminal/line-logger.ts";
import { renderFacts } from "../terminal/table.ts";
import { VERSION } from "../version.ts";
import type { Invocation } from "./command.ts";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { checkOwnCode } from "./own-code-option.ts";
import { checkWritable } from "../connect/check-workspace-owner.ts";
import { readSessionOptions } from "./session-options.ts";

/** Time for running calls to finish after a stop was requested. */
const GRACE_MS = 5000;

/** Serves its own session over HTTP until it is stopped, through the kernel that holds the home. */
export async function serveMcpHttp(invocation: Invocation, address: string): Promise<number> {
  const { terminal, environment, home, signal } = invocation;
  const listen = parseListenAddress(address);
  const request = await readSessionOptions(invocation);
  const allowOwnCode = (await checkOwnCode(invocation, request.workspace)) === "allow";
  await checkWritable(request);
  const log = createLineLogger(terminal, environment);
  // Clients hold this session's token, so a replacement session would be useless to them.
  const link = await openReconnectingLink({ home, environment, request, renew: false, log, allowOwnCode, signal });
  try {
    const source = createSingleSessionSource(link, createReconnectingCaller(link));
    // The reconnecting caller checks with each kernel whether elicitation is allowed.
    const elicitation = true;
    const listing = await readMcpOptions(home);
    const door = await openMcpDoor({ listen, source, elicitation, ...listing, version: VERSION, log });
    try {
      const bound = "host" in door.address ? door.address : listen;
      await announce(invocation, `${formatListenAddress(bound)}/mcp`, link);
      await aborted(signal);
      return EXIT_OK;
    } finally {
      await door.close({ graceMs: GRACE_MS });
    }
  } finally {
    await link.close();
  }
}

async function announce({ terminal, environment }: Invocation, url: string, link: ReconnectingLink): Promise<void> {
  const { sessionId, token } = link.latest().session;
  const tokenFile = await storeToken(sessionId, token, environment);
  if (terminal.json) {
    terminal.printJsonLine({ url, session_id: sessionId, token, token_file: tokenFile });
    return;
  }
  terminal.print(
    ...renderFacts([
      ["mcp", url],
      ["session", sessionId],
      ["token", `kept in ${tokenFile}`],
    ]),
    "",
    "Clients send it as `Authorization: Bearer TOKEN`. Ctrl-C stops it.",
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
