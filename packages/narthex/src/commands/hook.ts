import { setTimeout as sleep } from "node:timers/promises";
import { answerHook, refusalFor } from "../hook/answer-hook.ts";
import { type HookCall, type HookClient, HookProblem, type HookVerdict } from "../hook/hook-call.ts";
import { type HookKernel, withRunningKernel } from "../hook/hook-kernel.ts";
import type { HookProtocol } from "../hook/hook-protocol.ts";
import { loadProtocol } from "../hook/load-protocol.ts";
import { readHookMessage } from "../hook/read-hook-message.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import type { Command, Invocation } from "./command.ts";

/** Sooner than any client stops waiting: some of them take silence for yes. */
const DEADLINE_MS = 45_000;

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
  examples: [
    `echo '{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"},"cwd":"."}' | narthex hook claude`,
  ],

  async run(invocation) {
    const client = parseClient(invocation.arguments[0] ?? "");
    const protocol = await loadProtocol(client);
    let call: HookCall | undefined;
    const decided = decide(protocol, invocation, (parsed) => {
      call = parsed;
    }).catch(refusalFor);
    const verdict = await inTime(decided, invocation.options.durationMs("deadline") ?? DEADLINE_MS);
    invocation.terminal.printJsonLine(protocol.encodeAnswer(verdict ?? TOO_LATE, call));
    // What still goes on would keep the client waiting.
    if (verdict === undefined) process.exit(EXIT_OK);
    return EXIT_OK;
  },
};

const TOO_LATE = refusalFor(new HookProblem("the kernel did not decide in time"));

/** Undefined where it takes too long. */
async function inTime(decided: Promise<HookVerdict>, deadlineMs: number): Promise<HookVerdict | undefined> {
  const waiting = new AbortController();
  const late = sleep(deadlineMs, undefined, { signal: waiting.signal }).catch(() => undefined);
  try {
    return await Promise.race([decided, late]);
  } finally {
    waiting.abort();
  }
}

async function decide(
  protocol: HookProtocol,
  invocation: Invocation,
  onCall: (call: HookCall) => void,
): Promise<HookVerdict> {
  const { environment, home, input, options } = invocation;
  const message = await readHookMessage(input);
  const call = protocol.parseCall(message, environment);
  onCall(call);
  const workspace = options.text("workspace") ?? protocol.workspaceOf(message, environment);
  const answer = (kernel: HookKernel) => answerHook(kernel, { protocol, call, workspace, home });
  const answered = await withRunningKernel(home, answer);
  if (answered !== undefined) return answered;
  const { withConnection } = await import("../connection/open-connection.ts");
  return withConnection(invocation, "hook", answer);
}

function parseClient(name: string): HookClient {
  if (name === "claude" || name === "cursor") return name;
  // Exit code 2 of a usage error means no to every client.
  throw usageError(`there is no hook for \`${name.slice(0, 60)}\`; name claude or cursor`);
}
