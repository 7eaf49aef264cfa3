import { spawn } from "node:child_process";

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface TerminalRun {
  /** Resolves with the output so far once it matches. Rejects if the command ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with the whole output once the command has ended. */
  readonly output: Promise<string>;
}

/** Runs a shell command in a pseudo-terminal of the given size, which `script` of util-linux provides. */
export function runInTerminal(
  command: string,
  { columns, rows }: TerminalSize,
  place: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): TerminalRun {
  const sized = `stty cols ${columns} rows ${rows}; ${command}`;
  const child = spawn("script", ["-q", "-e", "-c", sized, "/dev/null"], {
    ...place,
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  let hasEnded = false;
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    tell();
  });
  const output = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => {
      hasEnded = true;
      tell();
      resolve(text);
    });
  });
  const until = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const isFound = pattern.test(text);
        if (!isFound && !hasEnded) return;
        listeners.delete(check);
        if (isFound) resolve(text);
        else reject(new Error(`\`${command}\` ended without printing ${pattern}:\n${text}`));
      };
      listeners.add(check);
      check();
    });
  return { until, output };
}
