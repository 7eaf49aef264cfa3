import { KernelError } from "@narthex/contracts";
import type { ExceededBound, PrintedOutput, ProgramResult, ViewPart } from "@narthex/kernel";

/** How many bytes of each stream's beginning are in the result itself; the whole stream is stored as content. */
const SHOWN_BYTES = 256 * 1024;
/** How many bytes of the end are in the result, if the beginning is not the whole stream. */
const END_BYTES = 16 * 1024;

/** A type and not an interface: only types are assignable to JSON. */
export type ProgramOutput = {
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly stdout: StreamOutput;
  readonly stderr: StreamOutput;
};

type StreamOutput = {
  readonly text: string;
  /** Size of the whole stream. */
  readonly size: number;
  readonly cut: boolean;
  readonly hash: string;
  /** The end of the stream, if `text` is only its beginning. */
  readonly tail?: string;
};

/**
 * Converts a finished program to its result. A non-zero exit code is a result. Throws if the program exceeded a limit.
 */
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

/** Schema of `ProgramOutput`. */
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

/** Text view for models: the exit code unless it is 0, then the output. Hashes only where something is left out. */
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

/** The signal of an exit code: shells and sandboxes report 128 plus the signal's number. */
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

/** Each message names the setting with the limit. */
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
