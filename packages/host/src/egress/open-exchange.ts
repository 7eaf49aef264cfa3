import { Readable } from "node:stream";
import { KernelError } from "@narthex/contracts";
import type { AddressClass, EgressEvent, EgressTarget } from "@narthex/kernel";
import { EgressBlockedError } from "./egress-blocked-error.ts";

/** Whose exchange it is. */
export interface ExchangeOwner {
  /** Throws RESOURCE_EXCEEDED for more than there is left. */
  count(bytes: number): void;
  classOf(target: EgressTarget): AddressClass | undefined;
  onEnd(exchange: OpenExchange, event: EgressEvent): void;
}

/** One request from its admission to its last byte: the ledger has an entry of each, and exactly one. */
export class OpenExchange {
  readonly target: EgressTarget;
  status: number | undefined;
  /** It was given a connection, and may be on its way. */
  isSent = false;
  /** The server answered that it has not begun to do what it was asked for. */
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
   * The same body on its way out. What is left of it when nobody wants more stays where it is: whoever sends it may
   * still be waiting for the answer.
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

  /** Nothing of it left. */
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

/** What the kernel itself says no to has a name that only it knows; other faults are named by their codes. */
function reasonOf(fault: unknown): string | undefined {
  if (fault instanceof EgressBlockedError) return fault.reason;
  if (!(fault instanceof KernelError) || fault.code === "NETWORK_BLOCKED") return undefined;
  return fault.code.toLowerCase();
}
