import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { homePaths } from "@narthex/host/home-paths";
import { openNamedDirectory, openPrivateDirectory } from "@narthex/host/private-directory";
import { PACKAGE_DIRECTORY } from "../package-directory.ts";
import { CommandError } from "../terminal/command-error.ts";
import { detachedStdio } from "./inherited-descriptors.ts";
import { createKernelEnvironment } from "./kernel-environment.ts";

export interface KernelStarterOptions {
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Whether a workspace that holds the kernel's own code is accepted. */
  readonly allowOwnCode: boolean;
  /** Command file; this package's by default. */
  readonly program?: string | undefined;
  /** Called when a kernel was started and is waited for: time for other work of this process. */
  onWait?(): void;
}

/** Starts kernels that outlive this process, one at a time. */
export interface KernelStarter {
  /**
   * Starts a kernel unless one is starting, and waits a moment. Throws KernelStartError if the kernel reported why it
   * cannot start, or ended several times without a reason.
   */
  ensureStarting(signal: AbortSignal): Promise<void>;
}

/** The kernel could not be started: holds its reported error, or the end of its log. */
export class KernelStartError extends CommandError {}

interface StartingKernel {
  /** Resolves when the process has ended. */
  readonly ended: Promise<KernelExit>;
  end: KernelExit | undefined;
}

interface KernelExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Output of the process. */
  readonly output: string;
}

interface ReportedError {
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

const PROGRAM = join(PACKAGE_DIRECTORY, "bin/narthex.js");
/** Interval at which the sockets are probed while a kernel starts. */
const POLL_MS = 15;
/** Maximum number of times that a kernel may end without a reported error. */
const MAX_CRASHES = 3;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2000;
const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_SHOWN_CHARACTERS = 400;

export function createKernelStarter(options: KernelStarterOptions): KernelStarter {
  let starting: StartingKernel | undefined;
  let crashes = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let pausedUntilMs = 0;

  function finish(end: KernelExit): void {
    starting = undefined;
    pausedUntilMs = performance.now() + pauseMs;
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
    // The new kernel found another one that serves or starts, which is probed next.
    if (end.code === 0) return;
    const reported = parseReportedError(end.output);
    if (reported !== undefined) throw new KernelStartError(reported.code, reported.message, reported);
    crashes += 1;
    if (crashes < MAX_CRASHES) return;
    crashes = 0;
    throw createCrashError(end, homePaths(options.home).kernelLog);
  }

  return {
    async ensureStarting(signal) {
      if (starting === undefined && performance.now() >= pausedUntilMs) {
        starting = await startKernelProcess(options);
        options.onWait?.();
      }
      await Promise.race([starting?.ended, sleep(POLL_MS, undefined, { signal })]);
      if (starting?.end !== undefined) finish(starting.end);
    },
  };
}

/**
 * Starts a process in its own session and process group, out of reach of signals to this one's group, and with no
 * descriptor of this process except the log.
 */
async function startKernelProcess(options: KernelStarterOptions): Promise<StartingKernel> {
  const { home, environment, allowOwnCode, program = PROGRAM } = options;
  const paths = homePaths(await openNamedDirectory(home));
  await openPrivateDirectory(paths.run);
  const { O_WRONLY, O_RDONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const log = await open(paths.kernelLog, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    const { size } = await log.stat();
    const words = ["serve", "--on-demand", "--json", "--data", paths.home];
    const child = spawn(process.execPath, [program, ...words, ...(allowOwnCode ? ["--allow-own-code"] : [])], {
      detached: true,
      cwd: "/",
      stdio: detachedStdio(log.fd),
      env: createKernelEnvironment(environment, await secretVariables(paths.configuration)),
    });
    child.unref();
    const ended = new Promise<KernelExit>((resolve) => {
      const end = async (code: number | null, signal: string | null): Promise<void> => {
        resolve({ code, signal, output: await readFrom(paths.kernelLog, size, O_RDONLY | O_NOFOLLOW) });
      };
      child.once("error", (error) => resolve({ code: null, signal: null, output: error.message }));
      child.once("exit", (code, signal) => void end(code, signal));
    });
    const starting: StartingKernel = { ended, end: undefined };
    void ended.then((end) => (starting.end = end));
    return starting;
  } finally {
    await log.close();
  }
}

/** Returns the variables that the configuration names. If the configuration cannot be read, the kernel reports that. */
async function secretVariables(configuration: string): Promise<string[]> {
  const { loadConfiguration } = await import("@narthex/host/configuration");
  try {
    const { secrets } = await loadConfiguration(configuration);
    return [...secrets.values()].flatMap((source) => ("env" in source ? [source.env] : []));
  } catch {
    return [];
  }
}

async function readFrom(path: string, position: number, flags: number): Promise<string> {
  try {
    await using file = await open(path, flags);
    const { size } = await file.stat();
    const from = Math.max(size < position ? 0 : position, size - MAX_OUTPUT_BYTES);
    const buffer = Buffer.alloc(size - from);
    await file.read(buffer, 0, buffer.length, from);
    return buffer.toString();
  } catch {
    return "";
  }
}

/** Parses the error that a command prints as JSON when it fails. */
function parseReportedError(output: string): ReportedError | undefined {
  for (const line of output.split("\n").reverse()) {
    if (!line.startsWith('{"error":')) continue;
    try {
      const { error } = JSON.parse(line) as { readonly error: Partial<ReportedError> };
      const { code, message, next } = error;
      if (typeof code === "string" && typeof message === "string" && typeof next === "string") {
        return { code, message, next };
      }
    } catch {
      // Not a reported error.
    }
  }
  return undefined;
}

function createCrashError({ code, signal, output }: KernelExit, log: string): KernelStartError {
  const how = signal === null ? `exit code ${code ?? "unknown"}` : signal;
  const last = output.trim().split("\n").at(-1)?.slice(0, MAX_SHOWN_CHARACTERS) ?? "";
  const said = last === "" ? "" : `: ${last}`;
  const message = `the kernel ended ${MAX_CRASHES} times while it started (${how})${said}`;
  return new KernelStartError("KERNEL_UNREACHABLE", message, {
    next: `see \`${log}\`, or start it in a terminal with \`narthex serve\` to see why`,
  });
}
