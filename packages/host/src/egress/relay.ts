import type { Duplex } from "node:stream";
import { freeBuffer } from "./free-buffer.ts";
import type { OpenExchange } from "./open-exchange.ts";

/**
 * Relays bytes in both directions until one side closes or fails, the connection is idle for too long, or a limit is
 * reached.
 */
export function relay(
  client: Duplex,
  server: Duplex,
  first: Buffer,
  exchange: OpenExchange,
  idleMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(), idleMs);
    const end = (fault?: Error): void => {
      clearTimeout(timer);
      client.destroy();
      server.destroy();
      if (fault === undefined) resolve();
      else reject(fault);
    };
    const pass = (from: Duplex, to: Duplex, count: (bytes: number) => void): void => {
      from.on("data", (chunk: Buffer) => {
        timer.refresh();
        try {
          count(chunk.length);
        } catch (fault) {
          return end(asError(fault));
        }
        const hasRoom = to.write(chunk, (fault) => {
          if (!fault) freeBuffer(chunk);
        });
        if (hasRoom) return;
        from.pause();
        to.once("drain", () => from.resume());
      });
      from.once("end", () => to.end());
      from.once("error", () => end());
      from.once("close", () => {
        if (to.writableFinished || to.destroyed) return end();
        // The last bytes are still being written to the other side; nothing is sent back any more.
        to.once("finish", () => end());
        to.end();
        to.pause();
      });
    };
    try {
      exchange.noteSent(first.length);
    } catch (fault) {
      return end(asError(fault));
    }
    server.write(first);
    pass(client, server, (bytes) => exchange.noteSent(bytes));
    pass(server, client, (bytes) => exchange.noteReceived(bytes));
    client.resume();
  });
}

function asError(fault: unknown): Error {
  return fault instanceof Error ? fault : new Error("a tunnel was refused");
}
