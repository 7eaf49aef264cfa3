import { parentPort, workerData } from "node:worker_threads";
import type { ReaderResponse, ReaderCall, ReaderData } from "./reader-messages.ts";
import { createReaderMethods, describeProblem } from "./reader-methods.ts";

const data = workerData as ReaderData;
const port = parentPort;
if (port === null) throw new TypeError("the store's reader must be started as a thread");

const methods = createReaderMethods(data);
port.on("message", (call: ReaderCall) => {
  void answerCall(call).then((answer) => {
    port.postMessage(answer);
    if (call.method === "close") port.close();
  });
});

async function answerCall({ id, method, args }: ReaderCall): Promise<ReaderResponse> {
  try {
    return { id, value: await (methods[method] as (...args: readonly unknown[]) => unknown)(...args) };
  } catch (error) {
    return { id, reason: describeProblem(data.directory, error) };
  }
}
