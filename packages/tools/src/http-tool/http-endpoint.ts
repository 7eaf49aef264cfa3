import { KernelError, type Violation } from "@narthex/contracts";
import type { OutgoingRequest } from "@narthex/kernel";
import { requestHeaders } from "../web/request-headers.ts";
import { readWebAddress, type WebAddress } from "../web/web-address.ts";

/** The endpoint of an HTTP tool. Plain data. */
export interface HttpEndpoint {
  /** `https://tools.example.com/weather`. */
  readonly url: string;
  readonly key?: EndpointKey;
  /**
   * Whether the server respects the idempotency key: a repeated request is processed once and gets the same response.
   */
  readonly isIdempotent?: boolean;
  /** One operation of the API whose base URL is `url`. Without it, the input is posted to `url` as it is. */
  readonly operation?: EndpointOperation;
}

export interface EndpointOperation {
  readonly method: string;
  /** Path template with parameter names in braces: `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: "path" | "query" | "header" }[];
  /** Whether the input's `body` is sent as JSON. */
  readonly hasBody: boolean;
}

export interface EndpointKey {
  /** Name of the secret. */
  readonly secret: string;
  /** Default: `authorization`. */
  readonly header?: string;
  /** Default: `Bearer `; empty for no prefix. */
  readonly prefix?: string;
}

export interface ReadyEndpoint {
  readonly address: WebAddress;
  /** The header with the key, if there is one. */
  readonly headers: NonNullable<OutgoingRequest["headers"]>;
  readonly isIdempotent: boolean;
  readonly operation: EndpointOperation | undefined;
}

/** Headers of every request. The key's header cannot have one of these names. */
export const ENDPOINT_HEADERS = {
  accept: "accept",
  contentType: "content-type",
  requestId: "narthex-request-id",
  deadline: "narthex-deadline",
  idempotencyKey: "idempotency-key",
} as const;

/** Validates an endpoint. Throws INVALID_DECLARATION for one that cannot be called. */
export function readEndpoint({ url, key, isIdempotent = false, operation }: HttpEndpoint): ReadyEndpoint {
  const address = readWebAddress(url);
  if (typeof address === "string") throw unfit("endpoint.url", `the address of the endpoint ${address}`);
  if (operation !== undefined) checkOperation(operation, key?.header ?? "authorization");
  return { address, headers: key === undefined ? [] : readKey(key), isIdempotent, operation };
}

/** SECURITY: no input may replace a header that the gate or the key sets. */
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
