import type { NetworkCapability } from "./capability/capability.ts";

/**
 * The only way to send network requests, for the kernel's own process and for sandboxed programs alike.
 *
 * SECURITY: behind this port no request can reach a host that the grant does not name, an address that was not checked,
 * or the target of a redirect that was not decided on. A tool only states what it wants to send; the grant limits what
 * it may send.
 */
export interface EgressGate {
  /** Opens a client for the requests of one call. It has connections of its own, which are closed with it. */
  open(pass: EgressGrant): EgressClient;
  /** Opens a proxy for a sandboxed program: a socket to pass into its sandbox, and the credential for it. */
  openProxy(pass: EgressGrant): Promise<EgressProxy>;
  close(): Promise<void>;
}

/** Receives events of requests and charges their bytes. */
export interface EgressAccounting {
  /** Called when a request has ended, whether it was sent or refused. */
  onEvent(event: EgressEvent): void;
  /** Charges the budget before the bytes are passed on. Throws RESOURCE_EXCEEDED. */
  charge(bytes: number): void;
}

/** The requests that one call may send, and the accounting for them. */
export interface EgressGrant extends EgressAccounting {
  /**
   * Throws unless the call may send requests to this host. Called before every request, and before every hop of a
   * redirect.
   */
  admit(target: EgressTarget): void;
  /**
   * Whether exactly this address and port are granted, including the right to send if `sends` is set. Required for
   * addresses that are not public, which a grant of a host name never covers.
   */
  isGranted(address: string, port: number, sends: boolean): boolean;
  readonly bounds: EgressBounds;
  /** Credentials that the gate adds to requests of programs, which cannot name a secret themselves. */
  readonly credentials: readonly EgressCredential[];
}

export interface EgressTarget {
  /** In canonical form: a name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * True unless the request is a GET or HEAD without a body. The content of a tunnel is not visible, so a tunnel counts
   * as sending.
   */
  readonly sends: boolean;
}

export interface EgressBounds {
  readonly maxRequests: number;
  /** Bytes sent and received over the wire. */
  readonly maxBytes: number;
  /** Size of one response body after decompression. */
  readonly maxBodyBytes: number;
}

/** Time limits of each phase of a request; the whole request ends with its call. */
export interface EgressTimes {
  readonly resolveMs: number;
  readonly connectMs: number;
  /** From the request to the headers of the response. */
  readonly headersMs: number;
  /** Between two chunks of a body. */
  readonly idleMs: number;
}

/** A header that the gate sets in requests to these hosts, replacing any value it had. */
export interface EgressCredential {
  readonly hosts: NetworkCapability["hosts"];
  readonly header: string;
  readonly value: SecretValue;
}

/**
 * A header value that only the gate knows.
 *
 * SECURITY: the secret's own list of hosts limits where it is sent, whatever the request says; it is not sent on to
 * another origin.
 */
export interface SecretValue {
  readonly secret: string;
  /** Text before the secret: `Bearer `. */
  readonly prefix?: string;
  /** If set, the value is `Basic` with this user name and the secret as its password. */
  readonly basicUser?: string;
}

export interface EgressClient {
  /** Throws NETWORK_BLOCKED if the request is refused, and UPSTREAM_ERROR, TIMEOUT or RESOURCE_EXCEEDED if it fails. */
  request(request: OutgoingRequest, signal: AbortSignal): Promise<IncomingResponse>;
  close(): Promise<void>;
}

export type HeaderList = readonly (readonly [name: string, value: string])[];

export interface OutgoingRequest {
  readonly method: string;
  /** Absolute, `http:` or `https:`. */
  readonly url: string;
  readonly headers?: readonly (readonly [name: string, value: string | SecretValue])[];
  readonly body?: Uint8Array;
  /** Whether redirects are followed, with a new decision for each (the default), or returned. */
  readonly redirect?: "follow" | "return";
  /** A lower limit than that of the grant. */
  readonly maxBodyBytes?: number;
  /** Maximum time without data, before the response begins and within it; by default that of the gate. */
  readonly silenceMs?: number;
}

export interface IncomingResponse {
  readonly status: number;
  /** Names in lower case, in the order received. */
  readonly headers: HeaderList;
  /** URL after all redirects. */
  readonly url: string;
  /** The decompressed body. Must be read to its end, or abandoned by ending the iteration. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface EgressProxy {
  /** A unix socket on the host, alone in its directory. */
  readonly socketPath: string;
  /** `name:password`, valid for this call only. */
  readonly credential: string;
  close(): Promise<void>;
}

export type AddressClass =
  | "public"
  | "private"
  | "loopback"
  | "link_local"
  | "metadata"
  | "own"
  | "multicast"
  | "unspecified"
  | "reserved";

/** One request as recorded in the ledger. */
export interface EgressEvent {
  readonly host: string;
  readonly port: number;
  /** CONNECT for a tunnel, whose methods are not visible. */
  readonly method: string;
  /** Class of the address that was dialled or refused; undefined if no address was determined. */
  readonly addressClass: AddressClass | undefined;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly status: number | undefined;
  /** Why the request was refused; undefined if it was not. */
  readonly refused: string | undefined;
  /** The request was sent, is not read-only, and the server did not state that processing had not begun. */
  readonly mayHaveEffect: boolean;
}
