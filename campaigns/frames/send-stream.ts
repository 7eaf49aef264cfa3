import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { decodeResponse, type ToolResponse } from "@narthex/contracts";

export interface StreamAnswers {
  readonly answers: readonly ToolResponse[];
  /** The door hung up by itself, before the client did. */
  readonly hungUp: boolean;
  /** Bytes of an answer that never ended. */
  readonly rest: number;
  /** Nothing more came for so long that the client gave up. */
  readonly gaveUp: boolean;
}

/** Nothing takes so long but a call that is never answered. */
const SILENCE_MS = 60_000;

/**
 * Sends chunks over a connection of its own, each as a write of its own, reads `expected` answers and then stops
 * sending; without a number it waits for the door to hang up.
 */
export async function sendStream(
  path: string,
  chunks: readonly Uint8Array[],
  expected: number | undefined,
): Promise<StreamAnswers> {
  const socket = connect({ path, allowHalfOpen: true });
  const answers: ToolResponse[] = [];
  let received: Buffer = Buffer.alloc(0);
  let [hungUp, gaveUp, ended] = [false, false, false];
  const end = (): void => {
    if (!ended) socket.end();
    ended = true;
  };
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.setTimeout(SILENCE_MS, () => {
    gaveUp = true;
    socket.destroy();
  });
  // A door that hangs up on something that it has not read shows as an error.
  socket.on("error", () => {
    hungUp ||= !ended;
    socket.destroy();
  });
  socket.on("end", () => {
    hungUp ||= !ended;
    end();
  });
  socket.on("data", (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    let at = 0;
    while (received.length - at >= 4 && received.length - at - 4 >= received.readUInt32BE(at)) {
      const length = received.readUInt32BE(at);
      answers.push(decodeResponse(received.subarray(at + 4, at + 4 + length)));
      at += 4 + length;
    }
    received = received.subarray(at);
    if (answers.length === expected) end();
  });
  for (const chunk of chunks) {
    if (ended || socket.destroyed) break;
    socket.write(chunk);
    if (chunks.length > 1) await turn();
  }
  if (expected === 0) end();
  await closed;
  return { answers, hungUp, rest: received.length, gaveUp };
}
