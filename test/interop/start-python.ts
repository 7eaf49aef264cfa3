import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Debian's: another interpreter on the path may lack the packages. */
const PYTHON = "/usr/bin/python3";

/** A Python script that answers each line of JSON with one. */
export interface Python {
  ask<T>(question: unknown): Promise<T>;
  /** Ends its input and waits until it has gone; rejects if it did not end well. */
  stop(): Promise<void>;
}

type Answer = { readonly ok: unknown } | { readonly error: string };

/** Starts a script of this folder. `modules` is where generated modules lie. */
export function startPython(script: string, modules: string): Python {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(PYTHON, ["-B", file], {
    env: { ...process.env, PYTHONPATH: modules, PYTHONIOENCODING: "utf-8", GRPC_VERBOSITY: "ERROR" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const said: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => said.push(text));
  const waiting: { resolve(value: unknown): void; reject(reason: Error): void }[] = [];
  const ended = once(child, "close");
  const ending = (code: number | null): Error => new Error(`${script} ended with ${code}: ${said.join("")}`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const next = waiting.shift();
    const answer = JSON.parse(line) as Answer;
    if ("error" in answer) next?.reject(new Error(`${script}: ${answer.error}`));
    else next?.resolve(answer.ok);
  });
  child.on("close", (code) => {
    for (const { reject } of waiting) reject(ending(code));
  });
  // What is written to a process that has gone is answered by the event above.
  child.stdin.on("error", () => undefined);
  return {
    ask<T>(question: unknown): Promise<T> {
      return new Promise<unknown>((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify(question)}\n`);
      }) as Promise<T>;
    },
    async stop() {
      child.stdin.end();
      const [code] = (await ended) as [number | null];
      if (code !== 0) throw ending(code);
    },
  };
}
