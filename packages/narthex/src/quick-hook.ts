import { homePath } from "./connection/home-path.ts";
import type { HookClient } from "./hook/hook-call.ts";
import { openHookKernel } from "./hook/hook-kernel.ts";
import { runHook } from "./hook/run-hook.ts";
import { EXIT_OK } from "./terminal/exit-code.ts";
import { visibleJson } from "./terminal/visible.ts";

/**
 * Responds to a client's hook without loading the rest of the command, because the client waits for every response.
 * Resolves with the exit code, or with undefined and without reading input for a command line that `connect` does not
 * write or if no kernel runs.
 */
export async function runQuickHook(argv: readonly string[]): Promise<number | undefined> {
  const line = parseHookLine(argv);
  if (line === undefined) return undefined;
  const home = homePath(line.data, process.env);
  const opened = await openHookKernel(home).catch(() => undefined);
  if (opened === undefined) return undefined;
  // A client that disconnected needs no response.
  process.stdout.on("error", () => undefined);
  const { client, workspace } = line;
  const ask = { ask: opened.ask, input: process.stdin, environment: process.env };
  const { response, isTimedOut } = await runHook({ client, workspace, home, ...ask });
  process.stdout.write(`${visibleJson(JSON.stringify(response))}\n`);
  opened.close();
  if (isTimedOut) process.exit(EXIT_OK);
  return EXIT_OK;
}

interface HookLine {
  readonly client: HookClient;
  readonly workspace: string;
  readonly data: string | undefined;
}

/** `hook CLIENT --workspace DIR [--data DIR]`. */
function parseHookLine(argv: readonly string[]): HookLine | undefined {
  const [command, client, option, workspace, dataOption, data, ...rest] = argv;
  if (command !== "hook" || (client !== "claude" && client !== "cursor") || rest.length > 0) return undefined;
  if (option !== "--workspace" || workspace === undefined || workspace.startsWith("-")) return undefined;
  if (dataOption === undefined) return { client, workspace, data: undefined };
  if (dataOption !== "--data" || data === undefined || data.startsWith("-")) return undefined;
  return { client, workspace, data };
}
