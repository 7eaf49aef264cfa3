import { PassThrough } from "node:stream";
import type { ProgramExit } from "@narthex/kernel";
import type { ProgramsDriver, LongRunningProgram } from "../../programs/create-programs.ts";

/** How an in-process server handles a message. */
export type FakeServer = (message: FakeMessage, say: (answer: object) => void, exit: () => void) => void;

interface FakeMessage {
  readonly id?: number;
  readonly method: string;
}

export interface FakePrograms extends ProgramsDriver {
  /** Programs started so far, with their current state. */
  readonly started: readonly { readonly sessionId: string; readonly ended: Promise<ProgramExit>; isAlive: boolean }[];
}

/** Creates programs that are in-process servers, for tests that would need too many real ones. */
export function createFakePrograms(server: FakeServer): FakePrograms {
  const started: { sessionId: string; ended: Promise<ProgramExit>; isAlive: boolean }[] = [];
  return {
    started,
    start(place, _program, signal): Promise<LongRunningProgram> {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const { promise: ended, resolve } = Promise.withResolvers<ProgramExit>();
      const entry = { sessionId: place.sessionId, ended, isAlive: true };
      started.push(entry);
      const kill = (): void => {
        entry.isAlive = false;
        resolve({ exitCode: undefined, exceeded: undefined, peakMemoryBytes: 0, cpuMs: 0, putBack: [] });
      };
      signal.addEventListener("abort", kill);
      const say = (answer: object): void => void stdout.write(`${JSON.stringify(answer)}\n`);
      return Promise.resolve({
        write(chunk) {
          const message = JSON.parse(Buffer.from(chunk).toString()) as FakeMessage;
          queueMicrotask(() => server(message, say, kill));
          return Promise.resolve();
        },
        endInput: () => undefined,
        stdout,
        stderr,
        ended,
        kill,
        channel: undefined,
        restoreNow: () => Promise.resolve([]),
        stay: undefined,
        beginCall: () => undefined,
        pid: Promise.resolve(1),
        processor: { cpuMs: 0, read: () => Promise.resolve(0), setCheck: () => undefined },
      });
    },
    allowChange: () => undefined,
    pathsAround: () => Promise.resolve([]),
    endSession: () => Promise.resolve(),
    removeLeftovers: () => Promise.resolve(),
    noteUnproven: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Creates a conforming server with one tool; `onCall` handles its calls. */
export function fakeServer(onCall: FakeServer): FakeServer {
  return (message, say, exit) => {
    const { id, method } = message;
    if (id === undefined) return;
    const answer = (result: object): void => say({ jsonrpc: "2.0", id, result });
    if (method === "initialize") answer({ protocolVersion: "2025-11-25", capabilities: {} });
    else if (method === "tools/list") answer({ tools: [{ name: "speak", inputSchema: { type: "object" } }] });
    else onCall(message, say, exit);
  };
}
