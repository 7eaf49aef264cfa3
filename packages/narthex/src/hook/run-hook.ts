import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@narthex/contracts";
import { handleHookCall, toDenial } from "./handle-hook-call.ts";
import { type HookCall, type HookClient, HookProblem, type HookVerdict } from "./hook-call.ts";
import type { HookKernel } from "./hook-kernel.ts";
import type { HookProtocol } from "./hook-protocol.ts";
import { loadProtocol } from "./load-protocol.ts";
import { readHookMessage } from "./read-hook-message.ts";

/** One run of a client's hook. */
export interface HookRun {
  readonly client: HookClient;
  /** If absent, the workspace that the client names. */
  readonly workspace: string | undefined;
  /** The kernel's home. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly input: AsyncIterable<Uint8Array>;
  readonly deadlineMs?: number | undefined;
  /** Runs `use` with a connection to the kernel of the home. */
  ask(use: (kernel: HookKernel) => Promise<HookVerdict>): Promise<HookVerdict>;
}

export interface HookResult {
  /** What the client reads on standard output. */
  readonly response: JsonObject;
  /** The deadline has passed, and work may still go on: the process must be ended. */
  readonly isTimedOut: boolean;
}

/** Shorter than the timeout of any client: some clients treat a timeout as allow. */
const DEADLINE_MS = 45_000;

/** Reads one call and responds to it. SECURITY: any error results in a denial. */
export async function runHook(run: HookRun): Promise<HookResult> {
  const protocol = await loadProtocol(run.client);
  let call: HookCall | undefined;
  const decided = decide(protocol, run, (parsed) => {
    call = parsed;
  }).catch(toDenial);
  const verdict = await withinDeadline(decided, run.deadlineMs ?? DEADLINE_MS);
  return { response: protocol.encodeResponse(verdict ?? TIMED_OUT, call), isTimedOut: verdict === undefined };
}

const TIMED_OUT = toDenial(new HookProblem("the kernel did not decide in time"));

/** Resolves with undefined if the deadline passes. */
async function withinDeadline(decided: Promise<HookVerdict>, deadlineMs: number): Promise<HookVerdict | undefined> {
  const waiting = new AbortController();
  const late = sleep(deadlineMs, undefined, { signal: waiting.signal }).catch(() => undefined);
  try {
    return await Promise.race([decided, late]);
  } finally {
    waiting.abort();
  }
}

async function decide(
  protocol: HookProtocol,
  { environment, home, input, workspace: named, ask }: HookRun,
  onCall: (call: HookCall) => void,
): Promise<HookVerdict> {
  const message = await readHookMessage(input);
  const call = protocol.parseCall(message, environment);
  onCall(call);
  const workspace = named ?? protocol.findWorkspace(message, environment);
  return ask((kernel) => handleHookCall(kernel, { protocol, call, workspace, home }));
}
