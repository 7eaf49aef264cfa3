import type { JobOutput, JobState, ViewPart } from "@narthex/kernel";
import { signalOf } from "../programs/program-output.ts";

/** A type and not an interface: only types are assignable to JSON. */
export type JobResult = {
  readonly job_id: string;
  readonly state: JobState["state"];
  readonly exit_code: number | null;
  readonly signal: string | null;
  readonly notes: string[];
};

export type JobOutputResult = JobResult & {
  readonly text: string;
  readonly offset: number;
  readonly next_offset: number;
  readonly size: number;
  readonly dropped: number;
};

export const JOB_ID_SCHEMA = { type: "string", minLength: 1, maxLength: 64, description: "From shell_spawn." } as const;

const STATE_FIELDS = {
  job_id: { type: "string" },
  state: { enum: ["running", "exited", "killed"] },
  exit_code: { type: ["integer", "null"] },
  signal: { type: ["string", "null"] },
  notes: { type: "array", items: { type: "string" }, description: "Why it was killed, and what was put back." },
} as const;

/** Schemas of `JobResult` and `JobOutputResult`. */
export const JOB_RESULT_SCHEMA = {
  type: "object",
  properties: STATE_FIELDS,
  required: ["job_id", "state", "exit_code", "signal", "notes"],
} as const;

export const JOB_OUTPUT_RESULT_SCHEMA = {
  type: "object",
  properties: {
    ...STATE_FIELDS,
    text: { type: "string", description: "What both streams printed, in the order in which it came." },
    offset: { type: "integer", description: "Of the first byte of `text`." },
    next_offset: { type: "integer", description: "Where to read on." },
    size: { type: "integer", description: "Of everything printed so far." },
    dropped: { type: "integer", description: "So many bytes from the beginning on are kept no more." },
  },
  required: [...JOB_RESULT_SCHEMA.required, "text", "offset", "next_offset", "size", "dropped"],
} as const;

export function toJobResult(jobId: string, { state, exitCode, notes }: JobState): JobResult {
  return { job_id: jobId, state, exit_code: exitCode ?? null, signal: signalOf(exitCode), notes: [...notes] };
}

/** Text view of a job's state for models. */
export function jobText({ job_id: jobId, state, exit_code: exitCode, signal, notes }: JobResult): ViewPart[] {
  const ending = exitCode === null ? "" : `, exit code ${exitCode}`;
  return [
    `job ${jobId}: ${state}${ending}${signal === null ? "" : ` (${signal})`}`,
    ...notes.map((note) => `[${note}]`),
  ];
}

export function jobOutputText(answer: JobOutputResult): ViewPart[] {
  const { text, offset, next_offset: next, size, dropped } = answer;
  const place = `bytes ${offset} to ${next} of ${size}${dropped === 0 ? "" : `, the first ${dropped} are gone`}`;
  return [...jobText(answer), `[${place}]`, { text, size: next - offset }];
}

export function toJobOutputResult(jobId: string, reading: JobOutput): JobOutputResult {
  const { bytes, offset, size, dropped } = reading;
  // An incomplete character is left for the next read, unless no more output follows.
  const isLast = reading.state !== "running" && offset + bytes.length === size;
  const whole = isLast ? bytes : bytes.subarray(0, bytes.length - unfinishedBytes(bytes));
  const text = lenientText.decode(whole);
  return { ...toJobResult(jobId, reading), text, offset, next_offset: offset + whole.length, size, dropped };
}

const lenientText = new TextDecoder("utf-8", { ignoreBOM: true });

/** The number of bytes at the end that begin an incomplete UTF-8 character. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? back : 0;
  }
  return 0;
}
