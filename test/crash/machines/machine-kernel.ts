import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { kernelProgram } from "../../built/kernel-program.ts";
import type { CrashHome } from "../rounds/crash-home.ts";

const PROGRAM = new URL("./stdin-driven-kernel.ts", import.meta.url);

export interface MachineKernelOptions {
  readonly seed: number;
  /** A command that runs the command which follows it, with whatever it does to it. */
  readonly under?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** A kernel in a process of its own, on a machine that may fail it. */
export interface MachineKernel {
  readonly pid: number;
  /** Makes calls at once, and notes in the home what came of each: `answered` if it succeeded, else `pending`. */
  call(...requestIds: readonly string[]): Promise<string[]>;
  /** Ends it in good order, as far as it can. */
  close(): Promise<void>;
  kill(): Promise<void>;
}

/** What it said instead of starting. */
export class Refusal extends Error {}

export async function startMachineKernel(at: CrashHome, options: MachineKernelOptions): Promise<MachineKernel> {
  const { home, effects, sessions } = at;
  const orders = JSON.stringify({ home, effects, sessions, seed: options.seed });
  const [command, ...words] = [...(options.under ?? []), process.execPath];
  const child = spawn(command, [...words, ...kernelProgram(PROGRAM, orders)], {
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  at.processes.add(child);
  child.once("exit", () => at.processes.delete(child));
  const problems = text(child.stderr);
  const waiting = new Map<string, (answer: string) => void>();
  const lines = createInterface({ input: child.stdout });
  const first = Promise.withResolvers<string>();
  child.stdin.on("error", () => undefined);
  lines.on("line", (line) => {
    const [word = "", ...rest] = line.split(" ");
    const wake = waiting.get(word);
    if (wake === undefined) first.resolve(line);
    else wake(rest.join(" "));
  });
  lines.on("close", () => {
    void problems.then((said) => first.reject(new Error(`it ended: ${said}`)));
    for (const wake of waiting.values()) wake("gone");
  });
  const said = await first.promise;
  if (said !== "ready") {
    at.cutShort++;
    throw new Refusal(said.replace(/^refused /, ""));
  }
  at.starts++;
  assert.ok(child.pid !== undefined);

  return {
    pid: child.pid,
    async call(...requestIds) {
      const answers = requestIds.map(async (requestId) => {
        if (!at.answered.has(requestId)) at.pending.add(requestId);
        const answer = await new Promise<string>((resolve) => {
          waiting.set(requestId, resolve);
          child.stdin.write(`${requestId}\n`);
        });
        if (answer.startsWith("success ")) {
          at.answered.set(requestId, answer);
          at.pending.delete(requestId);
        }
        return answer;
      });
      return await Promise.all(answers);
    },
    async close() {
      child.stdin.end();
      await exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
