import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

export interface StartedServer {
  /** Its first line of output. */
  readonly firstLine: string;
  stop(): Promise<void>;
}

/** Runs a program of this repository on this Node until its first line, which says that it serves. */
export async function startServer(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<StartedServer> {
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "exit");
  const problems = text(child.stderr);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done === true) throw new Error(`\`${words.join(" ")}\` ended without serving: ${await problems}`);
  return {
    firstLine: first.value,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
