import type { HookClient, HookVerdict } from "../hook/hook-call.ts";
import { type HookKernel, openHookKernel } from "../hook/hook-kernel.ts";
import { runHook } from "../hook/run-hook.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";

export const hookCommand: Command = {
  details:
    "For the configuration of a client, which `narthex connect` writes. Reads one call of the client's own tools on standard " +
    "input, decides it by the rules in force and answers as the client expects. Nothing contains such a call. Whatever " +
    "goes wrong is answered with a refusal.",
  arguments: [{ name: "<client>", description: "claude or cursor" }],
  options: [
    { flags: "--workspace <dir>", description: "the repository (default: the one that the client names)" },
    { flags: "--deadline <duration>", description: "answer no after so long (default: 45s)" },
  ],
  examples: ["narthex hook claude < message.json"],

  async run(invocation) {
    const { environment, home, input, options, terminal } = invocation;
    const { response, isTimedOut } = await runHook({
      client: parseClient(invocation.arguments[0] ?? ""),
      workspace: options.text("workspace"),
      home,
      environment,
      input,
      deadlineMs: options.durationMs("deadline"),
      ask: (use) => askKernel(invocation, use),
    });
    terminal.printJsonLine(response);
    // Work that is still running would keep the client waiting.
    if (isTimedOut) process.exit(EXIT_OK);
    return EXIT_OK;
  },
};

async function askKernel(
  invocation: Invocation,
  use: (kernel: HookKernel) => Promise<HookVerdict>,
): Promise<HookVerdict> {
  const running = await openHookKernel(invocation.home);
  if (running !== undefined) return running.ask(use).finally(running.close);
  const { withConnection } = await import("../connection/open-connection.ts");
  return withConnection(invocation, "hook", use);
}

function parseClient(name: string): HookClient {
  if (name === "claude" || name === "cursor") return name;
  // Every client treats exit code 2, the code of a usage error, as a denial.
  throw usageError(`there is no hook for \`${name.slice(0, 60)}\`; name claude or cursor`);
}
