import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { openWriter } from "./writer.ts";
import type { WriterCommand, WriterData } from "./writer-messages.ts";

/** A writer that sleeps until it is woken, then does what was asked. */

const { directory, wake } = workerData as WriterData;
const port = parentPort;
if (port === null) throw new TypeError("the store's writer must be started as a thread");

const write = openWriter(directory, (answer, transfer = []) => port.postMessage(answer, transfer));
let isOpen = write !== undefined;
while (isOpen) {
  const seen = Atomics.load(wake, 0);
  let message = receiveMessageOnPort(port);
  while (isOpen && message !== undefined) {
    isOpen = write?.(message.message as WriterCommand) ?? false;
    message = isOpen ? receiveMessageOnPort(port) : undefined;
  }
  // Sleeping on memory instead of on the event loop saves about a tenth of a millisecond per lone commit.
  if (isOpen) Atomics.wait(wake, 0, seen);
}
