import type { Socket } from "node:net";
import { KernelError } from "@narthex/contracts";

/** Allowance per connection for bytes that are received but not parsed yet. */
const UNREAD_BYTES = 256 * 1024;
/** Fixed allowance for responses that were started and never completed. */
const STARTED_BYTES = 1024 * 1024;
/** Allowance per counted byte: in a body of one-byte chunks, each byte has five bytes of framing. */
const FRAMING = 8;

/**
 * Compares the bytes received on the wire with the bytes that are counted.
 *
 * SECURITY: a server can send endless data that is neither header nor body: empty lines before the response, an endless
 * reason phrase, chunk extensions. None of it is passed on, so none of it is counted, but it keeps the parser busy.
 */
export class WireOverheadWatch {
  readonly #counted: () => number;
  #wireBytes = 0;
  #connections = 0;

  constructor(counted: () => number) {
    this.#counted = counted;
  }

  follow(socket: Socket): void {
    let seen = socket.bytesRead;
    this.#connections += 1;
    socket.once("close", () => {
      this.#connections -= 1;
    });
    socket.on("readable", () => {
      this.#wireBytes += socket.bytesRead - seen;
      seen = socket.bytesRead;
      const allowed = STARTED_BYTES + UNREAD_BYTES * this.#connections + FRAMING * this.#counted();
      if (this.#wireBytes <= allowed) return;
      socket.destroy(
        new KernelError("RESOURCE_EXCEEDED", "network bytes: most of what came was neither header nor body"),
      );
    });
  }
}
