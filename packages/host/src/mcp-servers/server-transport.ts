import type { JsonObject } from "@narthex/contracts";

/** Sends messages to a server and receives its messages. */
export interface ServerTransport {
  /** Whether the server can send notifications about changed tools. */
  readonly notifiesListChanges: boolean;
  /** Must be called once, before the first message is sent. */
  listen(events: TransportEvents): void;
  send(message: JsonObject): void;
  /** The open request was answered; further parts of its response are ignored. */
  completeRequest(): void;
  /** Sets the negotiated revision of the protocol. */
  setRevision(revision: string): void;
  /** No further messages are sent. `abandoned` is the id of the request that is no longer awaited. */
  end(abandoned: number | undefined): void;
  /** The end of the server's error output. */
  stderrTail(): string;
}

export interface TransportEvents {
  /** Called for all received bytes, messages or not. */
  onBytes(count: number): void;
  /** Called with each message, unparsed. */
  onMessage(message: Uint8Array): void;
  /** Whether this request is still unanswered. */
  isPending(id: number): boolean;
  /** The response to this request has ended. */
  onResponseEnd(id: number): void;
  /** The server has ended, or violated the protocol. */
  onEnd(why: string): void;
}
