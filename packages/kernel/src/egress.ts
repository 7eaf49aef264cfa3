import type { NetworkCapability } from "./capability/capability.ts";

/**
 * The one way out of this machine, for requests of the kernel's own process and of sandboxed programs alike.
 *
 * SECURITY: behind this port there is no way to ask a host that the pass does not name, to dial an address that was not
 * judged, or to follow a redirect that was not decided on. What a tool hands over is what it wants; the pass is what it
 * may.
 */
export interface EgressGate {
  /** For requests of one call. Connections are kept within it, and closed with it. */
  open(pass: EgressGrant): EgressClient;
  /** The same for a sandboxed program: a socket to hand into its sandbox, and what to say there. */
  openProxy(pass: EgressGrant): Promise<EgressProxy>;
  close(): Promise<void>;
}

/** Who is told of what leaves, and who pays for it. */
export interface EgressAccounting {
  /** Told of each request that left and of each that was refused, when it has ended. */
  onEvent(event: EgressEvent): void;
  /** Takes from the budget, before the bytes are handed on. Throws RESOURCE_EXCEEDED. */
  charge(bytes: number): void;
}

/** What one call may send, and who is told of it. */
export interface EgressGrant extends EgressAccounting {
  /** Throws unless the call may ask this host. Asked before every request, and before every hop of a redirect. */
  admit(target: EgressTarget): void;
  /**
   * Whether this very address and port are granted, for those that a name alone never reaches, and to send there if that
   * is what is wanted.
   */
  isGranted(address: string, port: number, sends: boolean): boolean;
  readonly bounds: EgressBounds;
  /** What the gate adds to requests that name no secret themselves: those of programs. */
  readonly credentials: readonly EgressCredential[];
}

export interface EgressTarget {
  /** In canonical form: a name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** More than GET and HEAD without a body; what a tunnel carries is not seen, so it sends. */
  readonly sends: boolean;
}

export interface EgressBounds {
  readonly maxRequests: number;
  /** Sent and received, as they went over the wire. */
  readonly maxBytes: number;
  /** Of one answer, after it was unpacked. */
  readonly maxBodyBytes: number;
}

/** How long each phase of a request may take; the whole ends with its call. */
export interface EgressTimes {
  readonly resolveMs: number;
  readonly connectMs: number;
  /** From the request to the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of a body. */
  readonly idleMs: number;
}

/** Put into requests to these hosts, in the place of whatever the header held. */
export interface EgressCredential {
  readonly hosts: NetworkCapability["hosts"];
  readonly header: string;
  readonly value: SecretValue;
}

/**
 * A header's value that only the gate knows.
 *
 * SECURITY: the secret's own list of hosts says where it may go, whatever anyone asks for; on to another origin it is
 * not taken.
 */
export interface SecretValue {
  readonly secret: string;
  /** Put before it: `Bearer `. */
  readonly prefix?: string;
  /** The value is `Basic` with this name and the secret as its password. */
  readonly basicUser?: string;
}

export interface EgressClient {
  /** Throws NETWORK_BLOCKED for what is refused, UPSTREAM_ERROR, TIMEOUT or RESOURCE_EXCEEDED for what failed. */
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
  /** Redirects are followed, each decided on anew, unless this says otherwise. */
  readonly redirect?: "follow" | "return";
  /** Less than the pass allows. */
  readonly maxBodyBytes?: number;
  /** How long the answer may be silent, before it begins and within it; as the gate has it by default. */
  readonly silenceMs?: number;
}

export interface IncomingResponse {
  readonly status: number;
  /** Names in lower case, in the order they came. */
  readonly headers: HeaderList;
  /** Where it came from in the end. */
  readonly url: string;
  /** Unpacked. To be read to its end or given up by ending the iteration. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface EgressProxy {
  /** A unix socket on the host, alone in its directory. */
  readonly socketPath: string;
  /** `name:password`, of this call only. */
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

/** One request as the ledger has it. */
export interface EgressEvent {
  readonly host: string;
  readonly port: number;
  /** CONNECT for a tunnel, whose methods nobody sees. */
  readonly method: string;
  /** Of the address that was dialled, or refused; undefined if it did not come to one. */
  readonly addressClass: AddressClass | undefined;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly status: number | undefined;
  /** Why it was refused; undefined for one that was not. */
  readonly refused: string | undefined;
  /** It was sent, is not one that only reads, and the server did not answer that it has not begun. */
  readonly mayHaveEffect: boolean;
}
