import { KernelError } from "@narthex/contracts";
import type { EgressGrant, EgressAccounting, Logger } from "@narthex/kernel";
import { egressBlocked } from "../egress/egress-blocked-error.ts";
import { parseEgressUrl } from "../egress/egress-url.ts";
import { openServerClient } from "./server-client.ts";
import { HttpTransport } from "./http-transport.ts";
import { ServerConnection } from "./server-connection.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import { secretVariables, type ServerPorts, type ServerSource, type StartedServer } from "./server-source.ts";

/** Connects to a server over HTTP: negotiates the protocol and lists its tools. */
export async function connectServer(
  url: string,
  { egress, logger }: ServerPorts,
  source: ServerSource,
  witness: EgressAccounting | undefined,
  signal: AbortSignal,
): Promise<StartedServer> {
  if (egress === undefined) throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no way to the network");
  // Only verifies that the secrets exist; the gate adds their values to requests.
  secretVariables(source);
  const [secret] = source.settings.secrets.values();
  const timed = AbortSignal.any([signal, AbortSignal.timeout(SERVER_LIMITS.startMs)]);
  let counting = witness;
  const exit = egress.open(passFor(url, source.settings.name, () => counting, logger));
  const transport = new HttpTransport({ url, secret, exit });
  const connection = new ServerConnection(transport);
  try {
    const conversation = await openServerClient(connection, source, timed);
    const listing = await conversation.listTools(timed);
    const ended = transport.ended.then(() => ({ putBack: [] }));
    const countFor = (next: EgressAccounting | undefined): void => void (counting = next);
    return { connection, client: conversation, listing, attributeTo: countFor, ended };
  } catch (fault) {
    counting = undefined;
    connection.end("it could not be come to terms with");
    await transport.ended;
    throw fault;
  }
}

/**
 * The requests that may be sent to a server: those to the configured host and port, and no others.
 *
 * SECURITY: an address that is not public is granted only if the configuration names this very address; a name that
 * resolves to one is refused.
 */
function passFor(
  url: string,
  server: string,
  witness: () => EgressAccounting | undefined,
  log: Logger | undefined,
): EgressGrant {
  const place = parseEgressUrl(url);
  const isPlace = (host: string, port: number): boolean => host === place.host && port === place.port;
  return {
    admit({ host, port }) {
      if (!isPlace(host, port)) throw egressBlocked("host", `\`${host}\` is not where the MCP server \`${server}\` is`);
    },
    isGranted: isPlace,
    bounds: {
      maxRequests: SERVER_LIMITS.requests,
      maxBytes: SERVER_LIMITS.networkBytes,
      maxBodyBytes: SERVER_LIMITS.bytes,
    },
    credentials: [],
    onEvent(event) {
      // Traffic during a call is recorded with the call. Between calls only the end of the session is sent.
      witness()?.onEvent(event);
      if (event.refused === undefined) log?.("debug", "a request to an MCP server", { server, ...event });
      else log?.("warn", "a request to an MCP server was refused", { server, ...event });
    },
    charge: (bytes) => witness()?.charge(bytes),
  };
}
