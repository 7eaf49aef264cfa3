import type { JsonObject } from "@narthex/contracts";

/** How messages go to a server and come back. */
export interface ServerTransport {
  /** Whether a server can say of itself that its tools have changed. */
  readonly notifiesListChanges: boolean;
  /** To be called once, before anything is sent. */
  listen(events: TransportEvents): void;
  send(message: JsonObject): void;
  /** The open request was answered: whatever else comes in answer to it is of no use. */
  completeRequest(): void;
  /** The revision of the protocol that both keep to from now on. */
  setRevision(revision: string): void;
  /** Nothing comes any more. `abandoned` is the request that nobody waits for. */
  end(abandoned: number | undefined): void;
  /** The end of what the server said beside its messages. */
  stderrTail(): string;
}

export interface TransportEvents {
  /** As they come, messages or not. */
  onBytes(count: number): void;
  /** One message, as it was sent. */
  onMessage(message: Uint8Array): void;
  /** Whether this request still has no answer. */
  isPending(id: number): boolean;
  /** Nothing more comes in answer to this request. */
  onResponseEnd(id: number): void;
  /** The server is gone, or cannot be understood. */
  onEnd(why: string): void;
}
