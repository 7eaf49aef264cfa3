import { Readable } from "node:stream";
import { KernelError } from "@narthex/contracts";
import type { AddressClass, EgressEvent, EgressTarget } from "@narthex/kernel";
import { EgressBlockedError } from "./egress-blocked-error.ts";

/** Receives the traffic and the outcome of an exchange. */
export interface ExchangeOwner {
  /** Throws RESOURCE_EXCEEDED if the bytes exceed the remaining allowance. */
  count(bytes: number): void;
  classOf(target: EgressTarget): AddressClass | undefined;
  onEnd(exchange: OpenExchange, event: EgressEvent): void;
}

/** One request from its admission to its last byte: the ledger gets exactly one entry for each. */
export class OpenExchange {
  readonly target: EgressTarget;
  status: number | undefined;
  /** A connection was assigned, so the request may have been sent. */
  isSent = false;
  /** The server responded that it has not started to process the request. */
  isDeclined = false;
  readonly #owner: ExchangeOwner;
  readonly #method: string;
  #sent = 0;
  #received = 0;
  #hasEnded = false;

  constructor(target: EgressTarget, method: string, owner: ExchangeOwner) {
    this.target = target;
    this.#method = method;
    this.#owner = owner;
  }

  noteSent(bytes: number): void {
    this.#owner.count(bytes);
    this.#sent += bytes;
  }

  noteReceived(bytes: number): void {
    this.#owner.count(bytes);
    this.#received += bytes;
  }

  /**
   * Wraps a request body to count its bytes. If sending stops early, the rest of `body` is not destroyed: the program
   * that sends it may still be waiting for the response.
   */
  sending(body: Readable): Readable {
    const pieces = async function* (this: OpenExchange): AsyncGenerator<Buffer> {
      const chunks: AsyncIterable<Buffer> = body.iterator({ destroyOnReturn: false });
      for await (const chunk of chunks) {
        this.noteSent(chunk.length);
        yield chunk;
      }
    };
    return Readable.from(pieces.call(this), { objectMode: false });
  }

  /** Ends an exchange of which nothing was sent. */
  refuse(fault: unknown): void {
    this.#end(fault, reasonOf(fault) ?? "host");
  }

  end(fault: unknown): void {
    this.#end(fault, fault instanceof EgressBlockedError ? fault.reason : undefined);
  }

  #end(fault: unknown, refused: string | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { host, port } = this.target;
    this.#owner.onEnd(this, {
      host,
      port,
      method: this.#method,
      addressClass: fault instanceof EgressBlockedError ? fault.addressClass : this.#owner.classOf(this.target),
      sentBytes: this.#sent,
      receivedBytes: this.#received,
      status: this.status,
      refused,
      mayHaveEffect: this.isSent && this.target.sends && !this.isDeclined,
    });
  }
}

/** Refusals by the kernel's policy have their own reasons; other errors are named by their codes. */
function reasonOf(fault: unknown): string | undefined {
  if (fault instanceof EgressBlockedError) return fault.reason;
  if (!(fault instanceof KernelError) || fault.code === "NETWORK_BLOCKED") return undefined;
  return fault.code.toLowerCase();
}
