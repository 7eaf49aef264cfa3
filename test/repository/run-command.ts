import { type ChildProcess, spawn } from "node:child_process";

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  /** Called once, when the program has printed something. */
  readonly onFirstOutput?: (child: ChildProcess) => void;
}

/** Runs a program as somebody in a terminal would: not as part of a test run. */
export function runCommand(
  program: string,
  words: readonly string[],
  options: CommandOptions = {},
): Promise<CommandEnd> {
  const { onFirstOutput, env = process.env, ...spawnOptions } = options;
  const { NODE_TEST_CONTEXT: _, ...ownEnv } = env;
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { ...spawnOptions, env: ownEnv, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const hear = (chunk: Buffer): void => {
      if (output === "") onFirstOutput?.(child);
      output += chunk.toString("utf8");
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, output }));
  });
}
