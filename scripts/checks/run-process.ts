import { spawn } from "node:child_process";

export interface ProcessResult {
  readonly code: number;
  /** Standard output and standard error, in the order of arrival. */
  readonly output: string;
}

/**
 * Runs a program to its end, with `environment` added to this process's own. The exit code is 127 if it cannot be
 * started, as in a shell.
 */
export function runProcess(
  program: string,
  programArguments: readonly string[],
  cwd: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...environment };
    const child = spawn(program, programArguments, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (error) => resolve({ code: 127, output: error.message }));
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(chunks).toString("utf8") }));
  });
}
