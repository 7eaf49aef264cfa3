import type { Readable } from "node:stream";
import { KernelError } from "@narthex/contracts";
import type { Dispatcher } from "undici";
import { explainFault } from "./explain-fault.ts";
import { IncomingBody } from "./incoming-body.ts";
import type { OriginClients } from "./origin-clients.ts";
import type { OpenExchange } from "./open-exchange.ts";

export interface EgressResponse {
  readonly status: number;
  /** Flat list of names and values. */
  readonly headers: readonly string[];
  /** The body as received, counted and charged. Must be destroyed if it is not read. */
  readonly body: IncomingBody;
}

export interface SentMessage extends Omit<Dispatcher.DispatchOptions, "body" | "origin"> {
  readonly origin: string;
  readonly body: Uint8Array | Readable | null;
}

const MAX_INTERIM_RESPONSES = 16;

/**
 * Sends the message of an exchange. The exchange ends with the last byte of the response, with an error, or when it is
 * cancelled.
 */
export function sendExchange(
  clients: OriginClients,
  message: SentMessage,
  exchange: OpenExchange,
  signal: AbortSignal,
): Promise<EgressResponse> {
  return new Promise((resolve, reject) => {
    const handler = new ResponseHandler(message, exchange, signal, resolve, reject);
    if (signal.aborted) handler.onResponseError(null, signal.reason);
    else clients.dispatch({ origin: message.origin, sends: exchange.target.sends }, message, handler);
  });
}

class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #message: SentMessage;
  readonly #exchange: OpenExchange;
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: EgressResponse) => void;
  readonly #reject: (fault: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #body: IncomingBody | undefined;
  #interim = 0;
  #hasEnded = false;
  #givenUp: Error | undefined;

  constructor(
    message: SentMessage,
    exchange: OpenExchange,
    signal: AbortSignal,
    resolve: (answer: EgressResponse) => void,
    reject: (fault: unknown) => void,
  ) {
    this.#message = message;
    this.#exchange = exchange;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort);
  }

  /** The request may have been cancelled while it waited for a connection. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#givenUp !== undefined) controller.abort(this.#givenUp);
    else this.#exchange.isSent = true;
  }

  /** An error thrown here and in the next methods closes the connection and becomes the error of the exchange. */
  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    const headers = headerTexts(controller.rawHeaders);
    if (status < 200) return this.#noteInterim(headers);
    this.#exchange.status = status;
    this.#exchange.isDeclined = isDeclined(status, headers);
    this.#exchange.noteReceived(sizeOfHeaders(headers));
    this.#body = new IncomingBody({
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      giveUp: (fault) => this.#giveUp(fault),
    });
    this.#resolve({ status, headers, body: this.#body });
  }

  /** INVARIANT: a chunk is charged before it is passed on, so a chunk that exceeds the limit is never delivered. */
  onResponseData(_: Dispatcher.DispatchController, piece: Buffer): void {
    this.#exchange.noteReceived(piece.length);
    this.#body?.push(piece);
  }

  onResponseEnd(): void {
    this.#end(undefined);
    this.#body?.finish();
  }

  onResponseError(_: Dispatcher.DispatchController | null, fault: unknown): void {
    const { body: sent } = this.#message;
    // Destroying the rest of the body may emit an error that nothing else handles.
    if (sent !== null && !(sent instanceof Uint8Array)) sent.on("error", () => undefined).destroy();
    if (this.#body === undefined) {
      const explained = explainFault(fault, this.#exchange.target.host);
      this.#end(explained);
      this.#reject(explained);
      return;
    }
    this.#end(undefined);
    this.#body.finish(asError(fault));
  }

  /** SECURITY: each interim response restarts the response timeout, so their number is limited. */
  #noteInterim(headers: readonly string[]): void {
    this.#interim += 1;
    if (this.#interim > MAX_INTERIM_RESPONSES) throw new KernelError("UPSTREAM_ERROR", "the answer never begins");
    this.#exchange.noteReceived(sizeOfHeaders(headers));
  }

  readonly #onAbort = (): void => this.#giveUp(asError(this.#signal.reason));

  #giveUp(fault: Error): void {
    if (this.#hasEnded) return;
    this.#givenUp = fault;
    // Ends the exchange at once, so that the request that follows a redirect is recorded after it.
    this.onResponseError(null, fault);
    this.#controller?.abort(fault);
  }

  #end(fault: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#exchange.end(fault);
  }
}

/** Too early, too many requests, overloaded: the server has not started. A 503 is certain only with Retry-After. */
function isDeclined(status: number, headers: readonly string[]): boolean {
  if (status === 425 || status === 429 || status === 529) return true;
  return status === 503 && headers.some((text, index) => index % 2 === 0 && text.toLowerCase() === "retry-after");
}

function headerTexts(raw: Dispatcher.DispatchController["rawHeaders"]): string[] {
  if (!Array.isArray(raw)) throw new KernelError("INTERNAL", "an answer without raw headers");
  return raw.map((text) => (typeof text === "string" ? text : text.toString("latin1")));
}

export function sizeOfHeaders(headers: readonly string[]): number {
  let size = 0;
  for (const text of headers) size += text.length + 2;
  return size;
}

function asError(fault: unknown): Error {
  return fault instanceof Error ? fault : new Error("the request was given up", { cause: fault });
}
