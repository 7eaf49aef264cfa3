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
export function readEndpoint({ url, key, isIdempotent = false }: HttpEndpoint): ReadyEndpoint {
  const address = readWebAddress(url);
  if (typeof address === "string") throw unfit("endpoint.url", `the address of the endpoint ${address}`);
  return { address, headers: key === undefined ? [] : readKey(key), isIdempotent };
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
