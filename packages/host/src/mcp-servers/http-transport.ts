import { setTimeout } from "node:timers/promises";
import { isKernelError, type JsonObject, MAX_TIMEOUT_MS } from "@narthex/contracts";
import { type EgressClient, type IncomingResponse, ownField } from "@narthex/kernel";
import { EventStream } from "./event-stream.ts";
import { parseRpcError, discardBody, isSuccess, mediaType } from "./http-response.ts";
import { messageHeaders, parseSessionId, sessionHeaders } from "./http-headers.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import type { ServerTransport, TransportEvents } from "./server-transport.ts";
import { toDisplayText } from "./display-text.ts";

export interface HttpTransportOptions {
  readonly url: string;
  /** Name of the secret that is sent as a bearer token. */
  readonly secret: string | undefined;
  /** Closed together with the transport. */
  readonly exit: EgressClient;
}

const EXPIRED = 404;
const MAX_SHOWN = 300;
const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Sends messages as requests to one URL. Responses are JSON or a stream of events.
 *
 * No stream is kept open between requests, so an idle server cannot send anything. A stream that ends before its
 * response is resumed if the server sent event ids. Redirects are not followed, because their target was not
 * configured.
 */
export class HttpTransport implements ServerTransport {
  readonly notifiesListChanges = false;
  /** Resolves when all requests have ended. */
  readonly ended: Promise<void>;
  readonly #options: HttpTransportOptions;
  readonly #life = new AbortController();
  readonly #hasEnded: () => void;
  #events: TransportEvents | undefined;
  #sessionId: string | undefined;
  #revision: string | undefined;
  /** Notifications and responses are sent in order, and before the next request. */
  #before: Promise<void> = Promise.resolve();
  #lastAnswer = new AbortController();

  constructor(options: HttpTransportOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#hasEnded = resolve;
  }

  listen(events: TransportEvents): void {
    this.#events = events;
  }

  setRevision(revision: string): void {
    this.#revision = revision;
  }

  /** Aborts at once, so that the HTTP request is recorded with the call that it belongs to. */
  completeRequest(): void {
    this.#lastAnswer.abort();
  }

  stderrTail(): string {
    return "";
  }

  send(message: JsonObject): void {
    const id = ownField(message, "id");
    const isRequest = typeof id === "number" && ownField(message, "method") !== undefined;
    const sent = isRequest ? this.#ask(message, id) : this.#tell(message);
    if (!isRequest) this.#before = sent;
  }

  end(abandoned: number | undefined): void {
    this.#life.abort();
    void this.#takeLeave(abandoned).finally(this.#hasEnded);
  }

  async #ask(message: JsonObject, id: number): Promise<void> {
    // The rest of an earlier response is not needed any more.
    this.#lastAnswer.abort();
    const reading = new AbortController();
    this.#lastAnswer = reading;
    const signal = AbortSignal.any([this.#life.signal, reading.signal]);
    try {
      await this.#before;
      const events = await this.#take(await this.#post(message, signal), message, id);
      if (events !== undefined) await this.#goOn(events, id, signal);
      this.#events?.onResponseEnd(id);
    } catch (fault) {
      if (!signal.aborted) this.#events?.onEnd(reasonOf(fault));
    }
  }

  async #tell(message: JsonObject): Promise<void> {
    try {
      await this.#before;
      const answer = await this.#post(message, this.#life.signal);
      await discardBody(answer);
      if (!isSuccess(answer)) throw new Error(`it answered a notification with status ${answer.status}`);
    } catch (fault) {
      if (!this.#life.signal.aborted) this.#events?.onEnd(reasonOf(fault));
    }
  }

  #post(message: JsonObject, signal: AbortSignal): Promise<IncomingResponse> {
    const { url, exit } = this.#options;
    return exit.request(
      {
        method: "POST",
        url,
        headers: messageHeaders(message, this.#standing()),
        body: Buffer.from(JSON.stringify(message)),
        redirect: "return",
        // The timeout of the call applies instead.
        silenceMs: MAX_TIMEOUT_MS,
      },
      signal,
    );
  }

  /** Returns the event stream, if the response is one. */
  async #take(answer: IncomingResponse, message: JsonObject, id: number): Promise<EventStream | undefined> {
    if (!isSuccess(answer)) return await this.#takeRefusal(answer, id);
    if (ownField(message, "method") === "initialize") this.#sessionId = parseSessionId(answer.headers);
    const type = mediaType(answer);
    if (type === "text/event-stream") return await this.#takeEvents(answer);
    if (type === "application/json") {
      this.#events?.onMessage(await this.#gather(answer, SERVER_LIMITS.lineBytes));
      return undefined;
    }
    await discardBody(answer);
    throw new Error(`it answered with status ${answer.status} and neither JSON nor events`);
  }

  async #takeEvents(answer: IncomingResponse): Promise<EventStream> {
    const events = new EventStream({
      maxBytes: SERVER_LIMITS.lineBytes,
      onData: (data) => this.#events?.onMessage(data),
      onTooLong: () => this.#events?.onEnd(tooLong()),
    });
    try {
      for await (const chunk of answer.body) {
        this.#events?.onBytes(chunk.length);
        if (this.#life.signal.aborted) break;
        events.take(chunk);
      }
    } catch (fault) {
      // If the server sent an event id, a broken connection does not end the call: the server continues it and the
      // stream can be resumed.
      const isBroken = isKernelError(fault) && (fault.code === "UPSTREAM_ERROR" || fault.code === "TIMEOUT");
      if (!isBroken || events.lastId === undefined) throw fault;
    }
    events.close();
    return events;
  }

  /** Requests the rest of a stream that ended before its response. The server does not execute anything again. */
  async #goOn(ended: EventStream, id: number, signal: AbortSignal): Promise<void> {
    const { url, exit } = this.#options;
    let { lastId } = ended;
    let waitMs = ended.retryMs ?? SERVER_LIMITS.retryMs;
    for (let turn = 0; this.#events?.isPending(id) === true && lastId !== undefined; turn++) {
      if (turn >= SERVER_LIMITS.resumptions) throw new Error("it broke off too often before it answered");
      await setTimeout(Math.min(waitMs, SERVER_LIMITS.longestRetryMs), undefined, { signal });
      const headers = [
        ["accept", "text/event-stream"] as const,
        ["last-event-id", lastId] as const,
        ...sessionHeaders(this.#standing()),
      ];
      const silenceMs = MAX_TIMEOUT_MS;
      const answer = await exit.request({ method: "GET", url, headers, redirect: "return", silenceMs }, signal);
      if (!isSuccess(answer) || mediaType(answer) !== "text/event-stream") {
        await discardBody(answer);
        throw new Error(`it broke off, and answered with status ${answer.status} when it was to go on`);
      }
      const events = await this.#takeEvents(answer);
      lastId = events.lastId ?? lastId;
      waitMs = events.retryMs ?? waitMs;
    }
  }

  /** Treats a JSON-RPC error as the response; any other error status ends the connection. */
  async #takeRefusal(answer: IncomingResponse, id: number): Promise<undefined> {
    const { status } = answer;
    if (status >= 300 && status < 400) {
      await discardBody(answer);
      throw new Error(`it answered with status ${status}, and where that leads is not followed`);
    }
    const error = parseRpcError(await this.#gather(answer, MAX_REFUSAL_BYTES).catch(() => new Uint8Array(0)));
    if (status === EXPIRED && this.#sessionId !== undefined) {
      this.#sessionId = undefined;
      throw new Error("it does not know the session any more; the next call begins another");
    }
    const isRefusal = status >= 400 && status < 500 && status !== 401 && status !== 403;
    if (error === undefined || !isRefusal) {
      const said = error === undefined ? "" : `: ${toDisplayText(error.message, MAX_SHOWN)}`;
      throw new Error(`it answered with status ${status}${said}`);
    }
    this.#events?.onMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, error: { ...error } })));
    return undefined;
  }

  async #gather(answer: IncomingResponse, maxBytes: number): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body) {
      this.#events?.onBytes(chunk.length);
      size += chunk.length;
      if (size > maxBytes) throw new Error(tooLong());
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }

  /** Cancels the abandoned request and closes the session, within a short time limit. */
  async #takeLeave(abandoned: number | undefined): Promise<void> {
    const { exit, url } = this.#options;
    const signal = AbortSignal.timeout(SERVER_LIMITS.leaveMs);
    const standing = this.#standing();
    try {
      if (abandoned !== undefined && this.#revision !== undefined) {
        const params = { requestId: abandoned };
        await discardBody(await this.#post({ jsonrpc: "2.0", method: "notifications/cancelled", params }, signal));
      }
      if (standing.sessionId !== undefined) {
        const headers = sessionHeaders(standing);
        await discardBody(await exit.request({ method: "DELETE", url, headers, redirect: "return" }, signal));
      }
    } catch {
      // Best effort: errors are ignored.
    } finally {
      await exit.close();
    }
  }

  #standing() {
    return { secret: this.#options.secret, sessionId: this.#sessionId, revision: this.#revision };
  }
}

function tooLong(): string {
  return `it sent a message above ${SERVER_LIMITS.lineBytes} bytes`;
}

/** Errors of the gate already describe the problem. */
function reasonOf(fault: unknown): string {
  if (isKernelError(fault)) return `a request to it failed: ${fault.code}: ${fault.message}`;
  return fault instanceof Error ? fault.message : String(fault);
}
