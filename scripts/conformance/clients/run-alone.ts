import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface FinishedCommand {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end with these variables and none of this process's own. */
export async function runAlone(
  program: string,
  words: readonly string[],
  cwd: string,
  environment: NodeJS.ProcessEnv,
): Promise<FinishedCommand> {
  const child = spawn(program, words, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const [stdout, stderr, end] = await Promise.all([text(child.stdout), text(child.stderr), code]);
  return { code: end, stdout, stderr };
}
