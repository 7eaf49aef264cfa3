import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { type ModelRequest, type ModelStep, type ScriptedModel, startScriptedModel } from "@narthex/testkit";
import type { AgentClient, RunMode } from "./agent-client.ts";
import { CheckFailure, excerpt } from "./outcome.ts";
import { isRunning, signalProcess, waitFor } from "./processes.ts";

/** A turn of the model: a call of narthex's tool, one of the client's own, or the end. */
export type Step =
  | { readonly call: string; readonly input: Extract<ModelStep, { name: string }>["input"] }
  | { readonly own: string; readonly input: Extract<ModelStep, { name: string }>["input"] }
  | { readonly say: string };

/** Steps may depend on the model's requests so far, and may wait until something has happened. */
export type Script = readonly (Step | ((seen: ModelRequest) => Step | Promise<Step>))[];

/** A running client, with a model that follows a script. */
export interface ClientRun extends AsyncDisposable {
  /** Requests of the conversation so far. */
  readonly turns: readonly ModelRequest[];
  readonly pid: number;
  /** Waits until the model has received this many results, and returns their texts; fails if the client ends before. */
  results(count: number): Promise<readonly string[]>;
  /** Waits until the client has ended by itself. */
  end(): Promise<ClientEnd>;
  /** Waits until all processes of its process group have ended; false after the timeout. */
  isGone(timeoutMs: number): Promise<boolean>;
  /** Sends a signal to the client, or to its whole process group. */
  signal(signal: NodeJS.Signals, to: "client" | "group"): void;
}

export interface ClientEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  /** Results of the model's calls, in order, from its last request. */
  readonly results: readonly string[];
}

export interface RunPlace {
  readonly program: string;
  readonly project: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Writes the client's settings for the model at this URL. */
  prepare(modelUrl: string): Promise<Readonly<Record<string, string>>>;
}

/** Timeout for one run, and for each wait in it. */
const RUN_TIMEOUT_MS = 180_000;

/** Starts a client on a script; after the script the model sends a final text. */
export async function startClient(
  client: AgentClient,
  place: RunPlace,
  script: Script,
  mode: RunMode = { isPermissive: false },
): Promise<ClientRun> {
  const model = await startScriptedModel((seen) => nextStep(client, script, seen));
  const variables = await place.prepare(model.url);
  const child = spawn(place.program, client.arguments("Follow the plan.", mode), {
    cwd: place.project,
    env: { ...place.environment, ...variables },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  return watchClient(child, model);
}

async function nextStep(client: AgentClient, script: Script, seen: ModelRequest): Promise<ModelStep> {
  const entry = script[seen.calls.length] ?? { say: "All done." };
  const step = typeof entry === "function" ? await entry(seen) : entry;
  if ("say" in step) return step;
  return { ...("own" in step ? { name: step.own } : client.toolName(step.call)), input: step.input };
}

function watchClient(child: ChildProcessByStdio<null, Readable, Readable>, model: ScriptedModel): ClientRun {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const texts = (): readonly string[] => (model.turns.at(-1)?.results ?? []).map(({ text }) => text);
  let ended: Omit<ClientEnd, "results" | "output"> | undefined;
  // Not "close": a process that the client left behind may keep its output open.
  child.once("exit", (code, signal) => (ended = { code, signal }));
  child.once("error", (fault) => {
    output += fault.message;
    ended = { code: 127, signal: null };
  });
  const { pid = 0 } = child;
  return {
    turns: model.turns,
    pid,
    async results(count) {
      const given = await waitFor(() => (texts().length >= count || ended ? texts() : undefined), RUN_TIMEOUT_MS);
      if (given !== undefined && given.length >= count) return given;
      throw new CheckFailure(
        `the model was given ${texts().length} of ${count} results: ${excerpt(output.slice(-600))}`,
      );
    },
    async end() {
      const end = await waitFor(() => ended, RUN_TIMEOUT_MS);
      if (end !== undefined) return { ...end, output, results: texts() };
      throw new CheckFailure(
        `the client did not end within ${RUN_TIMEOUT_MS / 1000} s: ${excerpt(output.slice(-600))}`,
      );
    },
    async isGone(timeoutMs) {
      return (await waitFor(() => (isRunning(-pid) ? undefined : true), timeoutMs)) === true;
    },
    signal(signal, to) {
      signalProcess(to === "group" ? -pid : pid, signal);
    },
    async [Symbol.asyncDispose]() {
      if (pid > 0) signalProcess(-pid, "SIGKILL");
      await model[Symbol.asyncDispose]();
    },
  };
}
