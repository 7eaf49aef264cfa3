import { readAll } from "../sandbox/read-all.ts";
import { DEFAULT_LIMITS, type ProcessLimits, type SandboxIdentity, type SandboxPlan } from "../sandbox/sandbox-plan.ts";
import type { ContainedProgram, ProgramEnd } from "../sandbox/start-contained.ts";

/** How a test program in the sandbox ended. */
export interface ProbeResult {
  readonly end: ProgramEnd | undefined;
  /** Its output, or why the sandbox failed. */
  readonly output: string;
}

export interface ProbeOptions extends Partial<Omit<SandboxPlan, "limits">> {
  readonly identity: SandboxIdentity;
  readonly limits?: Partial<ProcessLimits>;
}

export type StartProgram = (plan: SandboxPlan, command: readonly string[]) => Promise<ContainedProgram>;

const MB = 1024 * 1024;
const MAX_OUTPUT_BYTES = 4096;
const PROBE_TIMEOUT_MS = 20_000;

/** Runs one script in a sandbox of its own. Never throws: a failing sandbox is a result, too. */
export async function runProbe(
  start: StartProgram,
  plan: ProbeOptions,
  script: string,
  words: readonly string[] = [],
): Promise<ProbeResult> {
  try {
    const whole = { ...DEFAULT_PROBE_PLAN, ...plan, limits: { ...DEFAULT_PROBE_PLAN.limits, ...plan.limits } };
    const program = await start(whole, ["/bin/sh", "-c", script, "sh", ...words]);
    const timer = setTimeout(program.kill, PROBE_TIMEOUT_MS);
    try {
      program.stdin.end();
      const [stdout, stderr, end] = await Promise.all([
        readAll(program.stdout, MAX_OUTPUT_BYTES),
        readAll(program.stderr, MAX_OUTPUT_BYTES),
        program.ended,
      ]);
      return { end, output: `${stdout.toString("utf8")}${end.exitCode === 0 ? "" : stderr.toString("utf8")}`.trim() };
    } finally {
      clearTimeout(timer);
    }
  } catch (fault) {
    return { end: undefined, output: fault instanceof Error ? fault.message : String(fault) };
  }
}

const DEFAULT_PROBE_PLAN: Omit<SandboxPlan, "identity"> = {
  mounts: [],
  symlinks: [],
  environment: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp" },
  workingDirectory: "/tmp",
  limits: { ...DEFAULT_LIMITS, cpuMs: 10_000 },
  temporaryBytes: 16 * MB,
  socketFamilies: ["inet", "inet6"],
  mayFork: true,
};
