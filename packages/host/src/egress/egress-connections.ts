import type { Readable } from "node:stream";
import { KernelError } from "@narthex/contracts";
import type { AddressClass, EgressEvent, EgressGrant, EgressTarget, EgressTimes } from "@narthex/kernel";
import type { buildConnector } from "undici";
import { dial, type DialOptions, dialSecure } from "./dial.ts";
import type { EgressUrl } from "./egress-url.ts";
import { OriginClients } from "./origin-clients.ts";
import { type ExchangeOwner, OpenExchange } from "./open-exchange.ts";
import type { HostResolver, CheckedAddress } from "./resolve-host.ts";
import { type EgressResponse, sendExchange, sizeOfHeaders } from "./send-exchange.ts";
import { WireOverheadWatch } from "./wire-overhead-watch.ts";

export interface ConnectionParts {
  readonly resolver: HostResolver;
  readonly times: EgressTimes;
  readonly authorities: readonly string[] | undefined;
}

/** One outgoing request. Headers are a flat list of names and values. */
export interface EgressRequest {
  readonly url: EgressUrl;
  readonly method: string;
  readonly sends: boolean;
  /** Called only after the host was admitted, so that a secret is looked up for no other host. */
  headers(target: EgressTarget): string[];
  readonly body: Uint8Array | Readable | undefined;
  /** Overrides the timeouts of the connection. */
  readonly silenceMs?: number | undefined;
}

const MAX_HEADER_BYTES = 64 * 1024;
const KEEP_MS = 10_000;
/** A single instance: its stack trace would not help. */
const ENDED = new KernelError("CANCELLED", "the call has ended");

/**
 * The connections of one pass, and the traffic over them. Nothing is shared with another pass, neither connections nor
 * resolved names.
 */
export class EgressConnections implements ExchangeOwner {
  readonly pass: EgressGrant;
  readonly #parts: ConnectionParts;
  readonly #clients: OriginClients;
  readonly #open = new Set<OpenExchange>();
  readonly #dialled = new Map<string, AddressClass>();
  readonly #ending = new AbortController();
  readonly #watch = new WireOverheadWatch(() => this.#bytes);
  #requests = 0;
  #bytes = 0;

  constructor(pass: EgressGrant, parts: ConnectionParts) {
    this.pass = pass;
    this.#parts = parts;
    const { headersMs, idleMs } = parts.times;
    const connectors = { reading: this.#connector({ sends: false }), sending: this.#connector({ sends: true }) };
    this.#clients = new OriginClients(connectors, {
      headersTimeout: headersMs,
      bodyTimeout: idleMs,
      keepAliveTimeout: KEEP_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      allowH2: false,
    });
  }

  send(request: EgressRequest, signal: AbortSignal): Promise<EgressResponse> {
    const { url, method, sends, body, silenceMs } = request;
    const target = { host: url.host, port: url.port, sends };
    const exchange = this.begin(target, method);
    const message = {
      origin: url.origin,
      path: url.path,
      method,
      headers: prepare(exchange, request, target),
      body: body === undefined || body instanceof Uint8Array ? (body ?? null) : exchange.sending(body),
      headersTimeout: silenceMs ?? null,
      bodyTimeout: silenceMs ?? null,
    };
    return sendExchange(this.#clients, message, exchange, signal);
  }

  /** Admits one request and counts it. The caller must end the exchange in every case. */
  begin(target: EgressTarget, method: string): OpenExchange {
    this.#ending.signal.throwIfAborted();
    const { maxRequests } = this.pass.bounds;
    const exchange = new OpenExchange(target, method, this);
    this.#requests += 1;
    try {
      if (this.#requests > maxRequests) {
        throw new KernelError("RESOURCE_EXCEEDED", `network requests: at most ${maxRequests}, and it came to more`);
      }
      this.pass.admit(target);
    } catch (fault) {
      exchange.refuse(fault);
      throw fault;
    }
    this.#open.add(exchange);
    return exchange;
  }

  /** Records a request that is refused before it is admitted. */
  refuse(place: Pick<EgressTarget, "host" | "port">, method: string, fault: unknown): void {
    if (this.#ending.signal.aborted) return;
    this.#requests += 1;
    new OpenExchange({ ...place, sends: true }, method, this).refuse(fault);
  }

  /** Connects for a tunnel: the same checks, but the connection is not pooled. */
  async connect({ target }: OpenExchange): Promise<Awaited<ReturnType<typeof dial>>> {
    const options = this.#dialOptions(target.host, target.port);
    return dial(await this.#judge(target), options);
  }

  classOf({ host, port }: EgressTarget): AddressClass | undefined {
    return this.#dialled.get(keyOf(host, port));
  }

  count(bytes: number): void {
    this.pass.charge(bytes);
    this.#bytes += bytes;
    const { maxBytes } = this.pass.bounds;
    if (this.#bytes > maxBytes) {
      throw new KernelError("RESOURCE_EXCEEDED", `network bytes: at most ${maxBytes}, and it came to ${this.#bytes}`);
    }
  }

  /**
   * SECURITY: of the requests beyond the limit only the first is reported, so that a program that keeps sending
   * requests does not fill the ledger.
   */
  onEnd(exchange: OpenExchange, event: EgressEvent): void {
    const wasOpen = this.#open.delete(exchange);
    if (wasOpen || this.#requests <= this.pass.bounds.maxRequests + 1) this.pass.onEvent(event);
  }

  /** Reports the outcome of every open request first, then closes the connections. */
  async close(): Promise<void> {
    for (const exchange of this.#open) exchange.end(undefined);
    const destroyed = this.#clients.destroy(ENDED);
    this.#ending.abort(ENDED);
    await destroyed;
  }

  #connector({ sends }: Pick<EgressTarget, "sends">): buildConnector.connector {
    return ({ hostname, protocol, port }, settle) => {
      const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
      const isSecure = protocol === "https:";
      const options = this.#dialOptions(host, port === "" ? (isSecure ? 443 : 80) : Number(port));
      const connecting = async () => {
        const judged = await this.#judge({ host, port: options.port, sends });
        const socket = isSecure ? await dialSecure(judged, options) : await dial(judged, options);
        this.#watch.follow(socket);
        return socket;
      };
      connecting().then(
        (socket) => settle(null, socket),
        (fault: unknown) => settle(fault instanceof Error ? fault : new Error("cannot connect"), null),
      );
    };
  }

  #dialOptions(host: string, port: number): DialOptions {
    const { times, authorities } = this.#parts;
    return { host, port, connectMs: times.connectMs, authorities, signal: this.#ending.signal };
  }

  async #judge(target: EgressTarget): Promise<CheckedAddress> {
    const judged = await this.#parts.resolver.resolve(target, this.pass);
    // The call may have ended while the name was resolved; then no connection is opened.
    this.#ending.signal.throwIfAborted();
    this.#dialled.set(keyOf(target.host, target.port), judged.addressClass);
    return judged;
  }
}

/** Builds the request headers, and charges for everything known of the request before any of it is sent. */
function prepare(exchange: OpenExchange, request: EgressRequest, target: EgressTarget): string[] {
  const { url, method, body } = request;
  try {
    const headers = request.headers(target);
    exchange.noteSent(method.length + url.path.length + sizeOfHeaders(headers));
    if (body instanceof Uint8Array) exchange.noteSent(body.length);
    return headers;
  } catch (fault) {
    exchange.refuse(fault);
    throw fault;
  }
}

function keyOf(host: string, port: number): string {
  return `${host} ${port}`;
}
