import type { Socket } from "node:net";
import { KernelError } from "@narthex/contracts";

/** Read and not yet looked at: what lies in the buffers of one connection. */
const UNREAD_BYTES = 256 * 1024;
/** Beginnings that come to nothing. */
const STARTED_BYTES = 1024 * 1024;
/** A body that comes byte by byte has five more bytes around each. */
const FRAMING = 8;

/**
 * Compares what comes over the wire with what is counted of it.
 *
 * SECURITY: a server can send for ever what is neither header nor body: empty lines before its answer, a reason that does
 * not end, remarks about the size of a chunk. Nothing of that is handed on and so nothing of it is counted; the parser
 * is kept busy all the same.
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
