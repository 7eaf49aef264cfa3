import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface HostedCommand {
  readonly args: readonly string[];
  readonly stdin: Uint8Array;
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface HostedAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const HOST = fileURLToPath(new URL("./command-host.ts", import.meta.url));

/** Hosts with nothing to do, by the program whose command they run. */
const idle = new Map<string, ChildProcess[]>();

/**
 * Runs a command line in a process that has run others before: all that `narthex` does for it, without the start of a
 * process for each. A host runs one at a time; there are as many as commands run at once.
 */
export async function runHosted(program: string, command: HostedCommand): Promise<HostedAnswer> {
  const hosts = idle.get(program) ?? [];
  idle.set(program, hosts);
  const host = hosts.pop() ?? startHost(program);
  keepAlive(host, true);
  const answer = await new Promise<HostedAnswer>((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`\`${command.args.join(" ")}\` ended its host with ${code}`));
    host.once("exit", ended);
    host.once("message", (message) => {
      host.off("exit", ended);
      resolve(message as HostedAnswer);
    });
    host.send(command);
  });
  keepAlive(host, false);
  hosts.push(host);
  return answer;
}

function startHost(program: string): ChildProcess {
  // What the tests are run with is not for the command.
  return fork(HOST, [program], { execArgv: [], serialization: "advanced" });
}

/** Whether a test that is otherwise done waits for it. */
function keepAlive(host: ChildProcess, isAwaited: boolean): void {
  if (isAwaited) {
    host.ref();
    host.channel?.ref();
  } else {
    host.unref();
    host.channel?.unref();
  }
}

process.once("beforeExit", () => {
  for (const host of [...idle.values()].flat()) {
    host.ref();
    host.disconnect();
  }
});
