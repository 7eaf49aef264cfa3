import type { Readable } from "node:stream";
import type { JsonObject } from "@narthex/contracts";
import type { RunningProgram } from "@narthex/kernel";
import { LineReader } from "./line-reader.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import type { ServerTransport, TransportEvents } from "./server-transport.ts";

/** What a transport needs from a running program. */
export interface ServerStreams extends Pick<RunningProgram, "write" | "kill"> {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly ended: Promise<{ readonly exitCode: number | undefined }>;
}

/** Sends messages as lines over stdin and stdout of a program. */
export class StreamTransport implements ServerTransport {
  readonly notifiesListChanges = true;
  readonly #streams: ServerStreams;
  #lines: LineReader | undefined;
  #said = Buffer.alloc(0);

  constructor(streams: ServerStreams) {
    this.#streams = streams;
  }

  listen({ onBytes, onMessage, onEnd }: TransportEvents): void {
    const { stdout, stderr, ended } = this.#streams;
    const lines = new LineReader({
      maxBytes: SERVER_LIMITS.lineBytes,
      onLine: onMessage,
      onTooLong: () => onEnd(`it sent a message above ${SERVER_LIMITS.lineBytes} bytes`),
    });
    this.#lines = lines;
    stdout.on("data", (chunk: Buffer) => {
      onBytes(chunk.length);
      lines.take(chunk);
    });
    stderr.on("data", (chunk: Buffer) => {
      this.#said = Buffer.from(Buffer.concat([this.#said, chunk]).subarray(-SERVER_LIMITS.saidBytes));
    });
    for (const stream of [stdout, stderr]) stream.on("error", () => undefined);
    ended.then(
      ({ exitCode }) => onEnd(exitCode === undefined ? "it was killed" : `it ended with exit code ${exitCode}`),
      () => onEnd("its sandbox failed"),
    );
  }

  send(message: JsonObject): void {
    void this.#streams.write(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  completeRequest(): void {
    // Nothing to do: later output is counted at any time.
  }

  setRevision(): void {
    // Nothing to do: lines are the same in every revision.
  }

  end(): void {
    this.#lines?.close();
    this.#streams.kill();
  }

  stderrTail(): string {
    return this.#said.toString("utf8");
  }
}
