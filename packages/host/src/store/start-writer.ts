import { Worker } from "node:worker_threads";
import { threadUrl } from "./thread-url.ts";
import { type Writer, openWriter } from "./writer.ts";
import type { WriterResponse, WriterCommand, WriterData } from "./writer-messages.ts";

/** What a writer tells of itself. */
export interface WriterListener {
  onResponse(answer: WriterResponse): void;
  fail(fault: unknown): void;
  /** Nothing comes after it. */
  end(): void;
}

/** A writer at work. */
export interface RunningWriter {
  /** From now on it keeps the program running. */
  send(command: WriterCommand, transfer?: ArrayBuffer[]): void;
  /** The program may end. */
  unref(): void;
}

export type StartWriter = (directory: string, listener: WriterListener) => RunningWriter;

/** In a thread of its own: a disk that makes it wait keeps nobody else from working. */
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

/** In this thread, for a program that does one thing: to start a thread takes longer than to wait for the disk. */
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
    // Only what was sent and is not done yet keeps the program running.
    unref: () => undefined,
  };
};
