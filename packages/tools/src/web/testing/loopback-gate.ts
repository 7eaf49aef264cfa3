import { type IncomingMessage, request as sendRequest } from "node:http";
import { KernelError } from "@narthex/contracts";
import type { EgressGate, EgressGrant, IncomingResponse, OutgoingRequest } from "@narthex/kernel";

/**
 * A gate that sends requests directly to servers on this machine. It checks the grant, inserts secrets and follows
 * redirects, but has none of a real gate's protection.
 */
export function createLoopbackGate(secrets: Readonly<Record<string, string>> = {}): EgressGate {
  return {
    open: (pass) => ({
      request: (request, signal) => ask(pass, request, secrets, signal),
      close: () => Promise.resolve(),
    }),
    openProxy: () => Promise.reject(new KernelError("SANDBOX_UNAVAILABLE", "there is no proxy here")),
    close: () => Promise.resolve(),
  };
}

async function ask(
  pass: Pick<EgressGrant, "admit">,
  request: OutgoingRequest,
  secrets: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingResponse> {
  const url = new URL(request.url);
  const sends = request.method !== "GET" && request.method !== "HEAD";
  pass.admit({ host: url.hostname, port: Number(url.port) || 80, sends });
  const message = await exchange(request, secrets, signal);
  const { statusCode: status = 0, rawHeaders } = message;
  const location = message.headers.location;
  if (request.redirect !== "return" && location !== undefined && status >= 300 && status < 400) {
    return ask(pass, { ...request, url: new URL(location, url).href }, secrets, signal);
  }
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? ""] as const] : [],
  );
  return { status, headers, url: url.href, body: bytesOf(message) };
}

async function* bytesOf(message: IncomingMessage): AsyncGenerator<Uint8Array> {
  try {
    yield* message;
  } catch (cause) {
    throw new KernelError("UPSTREAM_ERROR", "the server broke off", { cause });
  }
}

function exchange(
  { method, url, headers = [], body }: OutgoingRequest,
  secrets: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest(url, { method, signal, agent: false }, resolve);
    for (const [name, value] of headers) {
      outgoing.appendHeader(name, typeof value === "string" ? value : `${value.prefix ?? ""}${secrets[value.secret]}`);
    }
    outgoing.on("error", (cause) => reject(new KernelError("UPSTREAM_ERROR", "the server broke off", { cause })));
    outgoing.end(body);
  });
}
