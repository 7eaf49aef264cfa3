import { KernelError } from "@narthex/contracts";
import type { NetworkAccess, OutgoingRequest } from "@narthex/kernel";

/**
 * Network access that goes directly to a server on this machine instead of the kernel's gate. Inserts secrets as the
 * gate does.
 */
export function fetchNetwork(secrets: Readonly<Record<string, string>>): NetworkAccess {
  return {
    async request(request) {
      try {
        const response = await fetch(request.url, {
          method: request.method,
          headers: filledIn(request, secrets),
          redirect: request.redirect === "return" ? "manual" : "follow",
          body: request.body === undefined ? null : Buffer.from(request.body),
        });
        const headers = [...response.headers];
        return { status: response.status, headers, url: response.url, body: bytesOf(response) };
      } catch (cause) {
        throw new KernelError("UPSTREAM_ERROR", "the server could not be reached", { cause });
      }
    },
    accounting: () => ({ onEvent: () => undefined, charge: () => undefined }),
  };
}

function filledIn({ headers = [] }: OutgoingRequest, secrets: Readonly<Record<string, string>>): [string, string][] {
  return headers.map(([name, value]) =>
    typeof value === "string" ? [name, value] : [name, `${value.prefix ?? ""}${secrets[value.secret]}`],
  );
}

async function* bytesOf(response: Response): AsyncGenerator<Uint8Array> {
  try {
    if (response.body !== null) yield* response.body;
  } catch (cause) {
    throw new KernelError("UPSTREAM_ERROR", "the connection was broken", { cause });
  }
}
