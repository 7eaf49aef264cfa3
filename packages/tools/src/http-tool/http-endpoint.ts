import { KernelError, type Violation } from "@narthex/contracts";
import type { OutgoingRequest } from "@narthex/kernel";
import { requestHeaders } from "../web/request-headers.ts";
import { readWebAddress, type WebAddress } from "../web/web-address.ts";

/** Where an HTTP tool is asked. Plain data. */
export interface HttpEndpoint {
  /** `https://tools.example.com/weather`. */
  readonly url: string;
  readonly key?: EndpointKey;
  /** The server keeps to the idempotency key: a request that comes twice is done once, and answered alike. */
  readonly isIdempotent?: boolean;
  /** One operation of an API that begins at `url`. Without one the input is posted there as it is. */
  readonly operation?: EndpointOperation;
}

export interface EndpointOperation {
  readonly method: string;
  /** With the names of its parameters in braces: `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: "path" | "query" | "header" }[];
  /** The input's `body` is sent as JSON. */
  readonly hasBody: boolean;
}

export interface EndpointKey {
  /** The secret's name. */
  readonly secret: string;
  /** `authorization`. */
  readonly header?: string;
  /** `Bearer `; empty for none. */
  readonly prefix?: string;
}

export interface ReadyEndpoint {
  readonly address: WebAddress;
  /** The key's, if there is one. */
  readonly headers: NonNullable<OutgoingRequest["headers"]>;
  readonly isIdempotent: boolean;
  readonly operation: EndpointOperation | undefined;
}

/** Headers of every request, which no key can take the place of. */
export const ENDPOINT_HEADERS = {
  accept: "accept",
  contentType: "content-type",
  requestId: "narthex-request-id",
  deadline: "narthex-deadline",
  idempotencyKey: "idempotency-key",
} as const;

/** Throws INVALID_DECLARATION for what cannot be asked. */
export function readEndpoint({ url, key, isIdempotent = false, operation }: HttpEndpoint): ReadyEndpoint {
  const address = readWebAddress(url);
  if (typeof address === "string") throw unfit("endpoint.url", `the address of the endpoint ${address}`);
  if (operation !== undefined) checkOperation(operation, key?.header ?? "authorization");
  return { address, headers: key === undefined ? [] : readKey(key), isIdempotent, operation };
}

/** SECURITY: no input takes the place of what the gate or the key says. */
function checkOperation({ parameters, path }: EndpointOperation, keyHeader: string): void {
  const filled = path.replaceAll(/\{[^{}]+\}/g, "x");
  if (URL.parse(filled, "http://any.test")?.pathname !== filled) {
    throw unfit("endpoint.operation", `\`${path.slice(0, 80)}\` is no path that everybody reads alike`);
  }
  const own = new Set<string>([...Object.values(ENDPOINT_HEADERS), keyHeader.toLowerCase(), "cookie"]);
  for (const { name, in: place } of parameters) {
    if (place !== "header") continue;
    if (own.has(name.toLowerCase())) throw unfit("endpoint.operation", `\`${name}\` is not an input's to set`);
    try {
      requestHeaders([`${name}: x`]);
    } catch (fault) {
      throw unfit("endpoint.operation", fault instanceof Error ? fault.message : "such a header cannot be sent");
    }
  }
}

function readKey({ secret, header = "authorization", prefix = "Bearer " }: EndpointKey): ReadyEndpoint["headers"] {
  if (Object.values<string>(ENDPOINT_HEADERS).includes(header.toLowerCase())) {
    throw unfit("endpoint.key.header", `\`${header.toLowerCase()}\` is set by every request`);
  }
  try {
    return requestHeaders([{ name: header, value: { $secret: secret }, prefix }]);
  } catch (fault) {
    throw unfit("endpoint.key", fault instanceof Error ? fault.message : "no key can be sent so");
  }
}

function unfit(field: string, message: string): KernelError {
  const violations: Violation[] = [{ field, rule: "format", message }];
  return new KernelError("INVALID_DECLARATION", message, { violations });
}
