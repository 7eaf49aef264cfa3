import { Worker } from "node:worker_threads";
import { threadUrl } from "./thread-url.ts";
import { type Writer, openWriter } from "./writer.ts";
import type { WriterResponse, WriterCommand, WriterData } from "./writer-messages.ts";

/** Receives a writer's responses and its end. */
export interface WriterListener {
  onResponse(answer: WriterResponse): void;
  fail(fault: unknown): void;
  /** Called last. */
  end(): void;
}

/** A running writer. */
export interface RunningWriter {
  /** Sends a command; the process then stays alive until `unref`. */
  send(command: WriterCommand, transfer?: ArrayBuffer[]): void;
  /** Allows the process to exit. */
  unref(): void;
}

export type StartWriter = (directory: string, listener: WriterListener) => RunningWriter;

/** Starts the writer in its own thread, so that a slow disk blocks nothing else. */
export const startWriterThread: StartWriter = (directory, listener) => {
  const wake = new Int32Array(new SharedArrayBuffer(4));
  const workerData: WriterData = { directory, wake };
  const worker = new Worker(threadUrl("writer-thread", import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  worker.on("message", (answer: WriterResponse) => listener.onResponse(answer));
  worker.on("error", (fault: unknown) => listener.fail(fault));
  worker.on("exit", () => listener.end());
  return {
    send(command, transfer = []) {
      worker.ref();
      worker.postMessage(command, transfer);
      Atomics.add(wake, 0, 1);
      Atomics.notify(wake, 0);
    },
    unref: () => worker.unref(),
  };
};

/**
 * Starts the writer in the current thread, for short-lived programs: starting a thread takes longer than waiting for
 * the disk.
 */
export const startLocalWriter: StartWriter = (directory, listener) => {
  let write: Writer | undefined;
  setImmediate(() => {
    write = openWriter(directory, (answer) => listener.onResponse(answer));
    if (write === undefined) listener.end();
  });
  return {
    send(command) {
      setImmediate(() => {
        if (write === undefined || write(command)) return;
        write = undefined;
        listener.end();
      });
    },
    // Only pending commands keep the process alive.
    unref: () => undefined,
  };
};
