import { spawn } from "node:child_process";
import { once } from "node:events";
import type { PageProcess } from "../page-worker-process.ts";

/** Starts an unsandboxed program in place of a worker. */
export function startProgram(words: readonly string[], cwd?: string): PageProcess {
  const child = spawn(process.execPath, words, { stdio: "pipe", ...(cwd !== undefined && { cwd }) });
  const { stdin, stdout, stderr } = child;
  const ended = once(child, "close").then(() => ({
    exitCode: child.exitCode ?? undefined,
    exceeded: undefined,
    peakMemoryBytes: 0,
  }));
  return { stdin, stdout, stderr, ended, kill: () => void child.kill("SIGKILL") };
}
