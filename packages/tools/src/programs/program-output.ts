import { KernelError } from "@narthex/contracts";
import type { ExceededBound, PrintedOutput, ProgramResult, ViewPart } from "@narthex/kernel";

/** How much of each stream's beginning stands in the result itself; the whole is content, by its hash. */
const SHOWN_BYTES = 256 * 1024;
/** And of the end, where that is not all of it. */
const END_BYTES = 16 * 1024;

/** A type and not an interface: only those are JSON. */
export type ProgramOutput = {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stdout: StreamOutput;
  readonly stderr: StreamOutput;
};

type StreamOutput = {
  readonly text: string;
  /** Of the whole. */
  readonly size: number;
  readonly cut: boolean;
  readonly hash: string;
  /** The end, where `text` is only the beginning. */
  readonly tail?: string;
};

/** What a finished program is to its caller. A non-zero exit is a result. Throws if it was stopped for a bound. */
export function toProgramOutput(result: ProgramResult): ProgramOutput {
  const { exitCode, exceeded } = result;
  if (exceeded !== undefined) throw exceededError(exceeded);
  return {
    exit_code: exitCode ?? null,
    signal: signalOf(exitCode),
    stderr: printed(result.stderr),
    stdout: printed(result.stdout),
  };
}

/** The schema of the above. */
export const PROGRAM_OUTPUT_SCHEMA = {
  type: "object",
  properties: {
    exit_code: { type: ["integer", "null"] },
    signal: { type: ["string", "null"] },
    stdout: { $ref: "#/$defs/printed" },
    stderr: { $ref: "#/$defs/printed" },
  },
  required: ["exit_code", "signal", "stdout", "stderr"],
  $defs: {
    printed: {
      type: "object",
      properties: {
        text: { type: "string" },
        size: { type: "integer" },
        cut: { type: "boolean" },
        hash: { type: "string" },
        tail: { type: "string" },
      },
      required: ["text", "size", "cut", "hash"],
    },
  },
} as const;

function printed({ head, tail, size, hash }: PrintedOutput): StreamOutput {
  const text = lenientText.decode(head.subarray(0, SHOWN_BYTES));
  if (size <= SHOWN_BYTES) return { cut: false, hash, size, text };
  return { cut: true, hash, size, text, tail: lenientText.decode((tail ?? head).subarray(-END_BYTES)) };
}

/** What a model is shown of the above: the exit code unless it is 0, then the output. Hashes only where some is left out. */
export function programText({ exit_code: exitCode, signal, stdout, stderr }: ProgramOutput): ViewPart[] {
  const isSilent = stdout.size + stderr.size === 0;
  const ending = exitCode === null ? "killed" : `exit code ${exitCode}`;
  const named = signal === null ? ending : `${ending} (${signal})`;
  return [
    ...(exitCode === 0 && !isSilent ? [] : [isSilent ? `${named}, no output` : named]),
    ...(stdout.size === 0 ? [] : [{ ...stdout, name: "stdout" }]),
    ...(stderr.size === 0 ? [] : ["[stderr]", { ...stderr, name: "stderr" }]),
  ];
}

const lenientText = new TextDecoder("utf-8", { ignoreBOM: true });

/** Shells and sandboxes say 128 and the signal's number. */
export function signalOf(exitCode: number | undefined): string | null {
  return (exitCode !== undefined && SIGNALS.get(exitCode - 128)) || null;
}

const SIGNALS: ReadonlyMap<number, string> = new Map([
  [1, "SIGHUP"],
  [2, "SIGINT"],
  [3, "SIGQUIT"],
  [4, "SIGILL"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [8, "SIGFPE"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [13, "SIGPIPE"],
  [14, "SIGALRM"],
  [15, "SIGTERM"],
  [24, "SIGXCPU"],
  [25, "SIGXFSZ"],
  [31, "SIGSYS"],
]);

export function exceededError({ limit, allowed, peak }: ExceededBound): KernelError {
  if (limit === "wall clock") {
    return new KernelError(
      "TIMEOUT",
      `the program did not finish within ${allowed} ms, and was killed with all it started`,
    );
  }
  const [most, found] = [inUnits(limit, allowed), inUnits(limit, peak)];
  return new KernelError(
    "RESOURCE_EXCEEDED",
    STORAGE.get(limit)?.(most, found) ?? `${limit}: at most ${most}, and it came to ${found}`,
  );
}

/** Each names the setting that says how much it may be. */
const STORAGE: ReadonlyMap<ExceededBound["limit"], (most: string, found: string) => string> = new Map([
  [
    "workspace",
    (most, found) =>
      `storage.growth_bytes: a call may add at most ${most} to the workspace, and this one added ${found}`,
  ],
  [
    "scratch",
    (most, found) =>
      `storage.scratch_bytes: \`/scratch\` may hold at most ${most}, and holds ${found}; it is emptied before the next program`,
  ],
  ["home", (most, found) => `storage.cache_bytes: \`/home/agent\` may hold at most ${most}, and holds ${found}`],
  ["disk", (most, found) => `storage.reserve_bytes: at least ${most} of each disk must stay free, and ${found} are`],
]);

function inUnits(limit: ExceededBound["limit"], amount: number): string {
  if (limit === "processes") return `${amount}`;
  return limit === "cpu" ? `${amount} ms` : `${Math.ceil(amount / 1_048_576)} MB`;
}
