/**
 * A kernel under load, killed while it works. Reads one line, its orders; prints `ready` when its doors are open, then
 * `i ID` before it makes a call and `a ID ANSWER` once that is answered.
 */
import { flushCompileCache } from "node:module";
import { createInterface } from "node:readline";
import { createKernel, type SocketKernel } from "../../doors/socket-kernel.ts";
import type { CallPoint, KillPoint } from "./kill-point.ts";
import { callOf, planCall } from "./load-call.ts";
import { createLoadTools } from "./load-tools.ts";
import { type LoadSession, makeCall } from "./make-call.ts";
import { sayLine } from "./say-line.ts";

export interface Orders {
  readonly home: string;
  readonly effects: string;
  readonly sessions: readonly LoadSession[];
  readonly seed: number;
  readonly round: number;
  /** Made first: calls of earlier rounds that nobody knows the answer of. */
  readonly repeats: readonly string[];
  /** How many new calls there are to make. */
  readonly calls: number;
  readonly kill: KillPoint;
}

const LANES = 40;

// Whoever is killed never writes what it compiled, and the next one would compile all of it again.
flushCompileCache();
const { value } = await createInterface({ input: process.stdin })[Symbol.asyncIterator]().next();
await work(JSON.parse(String(value)) as Orders);

async function work({ home, effects, sessions, seed, round, repeats, calls, kill }: Orders): Promise<void> {
  let left = kill.count;
  const reach = (point: CallPoint | "reconcile"): void => {
    if (point === kill.at && --left === 0) end(point);
  };
  const observer = { stage: ({ stage }: { readonly stage: CallPoint }) => reach(stage) };
  const kernel = await createKernel({ data: home, observer, ...createLoadTools({ effects, reach }) });
  sayLine("ready");

  const waiting = repeats.map((requestId) => callOf(seed, requestId));
  let next = 0;
  let closed: Promise<void> | undefined;
  const lanes = Array.from({ length: LANES }, async () => {
    for (;;) {
      const call = waiting.shift() ?? (next < calls ? planCall(seed, round, next++) : undefined);
      if (call === undefined) return;
      if (kill.at === "close" && next >= calls / 2) closed ??= close(kernel);
      sayLine(`i ${call.requestId}`);
      sayLine(`a ${call.requestId} ${await makeCall(kernel, sessions, call)}`);
    }
  });
  await Promise.all(lanes);
  await closed;
  end("idle");
}

function close(kernel: SocketKernel): Promise<void> {
  sayLine("closing");
  return kernel.close({ graceMs: 1000 });
}

function end(point: string): void {
  sayLine(`killed ${point}`);
  process.kill(process.pid, "SIGKILL");
}
