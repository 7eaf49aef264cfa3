import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable, Writable } from "node:stream";
import type { ProgramExit, JobCommand, SandboxProfile, RunningProgram } from "@narthex/kernel";
import { BASH, isLongCommand } from "./bash-command.ts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";

const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";
/**
 * Descriptor of a pipe from which bash reads a command that is too long for an argument; closed for the command itself.
 */
const COMMAND_FD = 3;
const EVALUATE_PIPE = `eval "$(/bin/cat <&${COMMAND_FD} || echo exit 126)" ${COMMAND_FD}<&-`;
/** How long the pipes of an ended program stay open for processes that it left behind. */
const LAST_OUTPUT_MS = 500;

/**
 * Runs a command directly on the host.
 *
 * SECURITY: there is no containment. It is used only if the configuration says so, and its results are labelled. It
 * never runs as root, its environment contains only the variables set here, and its process group is killed with it; a
 * process that leaves the group keeps running.
 */
export function startOnHost(
  place: Pick<SandboxProfile, "workspace">,
  { command, workingDirectory, environment }: Omit<JobCommand, "timeoutMs">,
  identity: SandboxIdentity,
  signal: AbortSignal,
): RunningProgram {
  const isRoot = process.getuid?.() === 0;
  const [bash, ...options] = BASH;
  const isLong = isLongCommand(command);
  const child = spawn(bash, [...options, "-c", isLong ? EVALUATE_PIPE : command], {
    cwd: join(place.workspace, workingDirectory),
    env: {
      PATH: SYSTEM_PATH,
      HOME: isRoot ? place.workspace : homedir(),
      SHELL: "/bin/bash",
      LANG: "C.UTF-8",
      TZ: "UTC",
      TERM: "dumb",
      TMPDIR: "/tmp",
      ...environment,
    },
    stdio: ["pipe", "pipe", "pipe", ...(isLong ? (["pipe"] as const) : [])],
    detached: true,
    ...(isRoot && identity),
  });
  const { stdin } = child;
  const [stdout, stderr] = [child.stdout.pipe(new PassThrough()), child.stderr.pipe(new PassThrough())];
  const commandPipe = child.stdio[COMMAND_FD];
  if (commandPipe instanceof Writable) commandPipe.on("error", () => undefined).end(command);
  stdin.on("error", () => undefined);
  let isKilled = false;
  const killGroup = (): void => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The process group is empty.
    }
  };
  const kill = (): void => {
    isKilled = true;
    killGroup();
  };
  signal.addEventListener("abort", kill, { once: true });
  const ended = new Promise<ProgramExit>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, name) => {
      killGroup();
      closeSoon(child.stdout, stdout);
      closeSoon(child.stderr, stderr);
      child.once("close", () => {
        signal.removeEventListener("abort", kill);
        const exitCode = isKilled ? undefined : (code ?? 128 + (SIGNAL_NUMBERS.get(name ?? "") ?? 0));
        // There is no accounting per command here: CPU time is unknown, and no budget is charged for it.
        resolve({ exitCode, exceeded: undefined, peakMemoryBytes: 0, cpuMs: 0, putBack: [] });
      });
    });
  });
  ended.catch(() => undefined);
  if (signal.aborted) kill();
  return {
    write: (chunk) => new Promise((resolve) => stdin.write(chunk, () => resolve())),
    endInput: () => stdin.end(),
    stdout,
    stderr,
    ended,
    kill,
  };
}

/** Closes the pipes after a delay: a process that left the group may hold them open forever. */
function closeSoon(pipe: Readable, output: PassThrough): void {
  const timer = setTimeout(() => {
    pipe.unpipe(output);
    pipe.destroy();
    output.end();
  }, LAST_OUTPUT_MS);
  pipe.once("close", () => clearTimeout(timer));
}

const SIGNAL_NUMBERS: ReadonlyMap<string, number> = new Map([
  ["SIGHUP", 1],
  ["SIGINT", 2],
  ["SIGABRT", 6],
  ["SIGKILL", 9],
  ["SIGSEGV", 11],
  ["SIGPIPE", 13],
  ["SIGTERM", 15],
]);
