import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { meterModule } from "@narthex/meter";
import { HOST_TYPE } from "./host-type.ts";
import {
  DECLARATION_SECTION,
  HOST_IMPORT,
  type LoadOptions,
  MAX_DEPTH,
  MAX_REASON_LENGTH,
  MAX_REJECTION_LENGTH,
  MAX_TABLE_ENTRIES,
} from "./messages.ts";
import { runModule } from "./run-module.ts";
import { ThreadGauge } from "./thread-gauge.ts";
import type { LoadedModule, ThreadReply, ThreadRequest } from "./thread-messages.ts";
import { SharedMessageWriter } from "./shared-message-writer.ts";

/** Data that a thread is started with. */
export interface ThreadData {
  readonly port: MessagePort;
  /** Counter incremented with each message; the thread sleeps on it. */
  readonly bell: Int32Array;
  /** Lock of the writer shared by all threads. */
  readonly turn: Int32Array;
  /** Numbers of its gauge. */
  readonly numbers: Float64Array;
}

/** Memory of finished instances at which garbage collection is forced. */
const MAX_GARBAGE_PAGES = 1024;

/** Loads and runs modules, one after the other, until the thread is terminated. It never returns to an event loop. */
export function threadLoop({ port, bell, turn, numbers }: ThreadData): never {
  const voice = new SharedMessageWriter(turn);
  const gauge = new ThreadGauge(numbers);
  gauge.identify();
  const known = new Map<string, LoadedModule>();
  let garbagePages = 0;

  const receive = (): ThreadRequest => {
    for (;;) {
      const rung = Atomics.load(bell, 0);
      const received = receiveMessageOnPort(port);
      if (received !== undefined) return received.message as ThreadRequest;
      Atomics.wait(bell, 0, rung);
    }
  };
  const reply = (message: ThreadReply): void => port.postMessage(message);
  const callHost = (id: number, code: number, request: Uint8Array): Uint8Array | number => {
    voice.write(id, { type: "host_call", code }, request);
    const answer = receive();
    if (answer.type !== "answer") throw new TypeError("an answer was due");
    return answer.status === 0 ? answer.bytes : answer.status;
  };

  for (;;) {
    const request = receive();
    switch (request.type) {
      case "load":
        gauge.begin();
        reply({ ...load(request.original, request.options), cpuMs: gauge.ownCpuMs() });
        break;
      case "forget":
        known.delete(request.key);
        break;
      case "run": {
        const loaded = request.loaded ?? known.get(request.key);
        if (loaded === undefined) throw new TypeError("no such module");
        known.set(request.key, loaded);
        const { id, fuel, input } = request;
        gauge.begin();
        const { ending, use, bytes } = runModule(loaded, fuel, input, (code, asked, soFar) => {
          gauge.note(soFar);
          return callHost(id, code, asked);
        });
        // INVARIANT: sent first, so that the main thread can know that this thread is free before the kernel sends
        // more.
        reply({ type: "ended" });
        voice.write(id, { type: "ended", ...ending, use: { ...use, cpuMs: gauge.ownCpuMs() } }, bytes);
        garbagePages += use.memoryPages;
        if (garbagePages > MAX_GARBAGE_PAGES) {
          // INVARIANT: memory within the limit must always be available, so garbage must not stay for long.
          globalThis.gc?.();
          garbagePages = 0;
        }
        break;
      }
      case "answer":
        throw new TypeError("nothing was asked");
    }
  }
}

type Unmeasured<T> = T extends { readonly cpuMs: number } ? Omit<T, "cpuMs"> : never;

function load(original: Uint8Array, { memoryPages, allowsSimd }: LoadOptions): Unmeasured<ThreadReply> {
  const metered = meterModule(original, {
    memoryPages,
    tableEntries: MAX_TABLE_ENTRIES,
    maxDepth: MAX_DEPTH,
    allowSimd: allowsSimd,
    imports: new Set([`${HOST_IMPORT.module}.${HOST_IMPORT.name}`]),
    importType: HOST_TYPE,
  });
  if (!metered.ok) {
    return {
      type: "rejected",
      reason: metered.reason.slice(0, MAX_REASON_LENGTH),
      message: metered.message.slice(0, MAX_REJECTION_LENGTH),
    };
  }
  const module = new WebAssembly.Module(metered.code);
  const missing = missingExport(module, metered.exports.memory);
  if (missing !== undefined) return { type: "rejected", reason: "abi", message: `it exports no ${missing}` };
  const section = metered.declaration.find(({ name }) => name === DECLARATION_SECTION);
  return {
    type: "loaded",
    loaded: { module, added: metered.exports, memoryPages },
    declaration: section && Uint8Array.from(section.bytes),
  };
}

/** Returns a required export that is missing. Types are checked when the module is run. */
function missingExport(module: WebAssembly.Module, memory: string | undefined): string | undefined {
  if (memory === undefined) return "memory";
  const functions = WebAssembly.Module.exports(module).filter(({ kind }) => kind === "function");
  const name = ["alloc", "run"].find((wanted) => !functions.some((one) => one.name === wanted));
  return name && `function \`${name}\``;
}
