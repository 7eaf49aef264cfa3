import { defineTool } from "@narthex/kernel";
import { SHELL_DECLARATION } from "./command-input.ts";
import { JOB_ID_SCHEMA, JOB_OUTPUT_RESULT_SCHEMA, toJobOutputResult, jobOutputText } from "./job-result.ts";

const MAX_WAIT_MS = 60_000;
const GRACE_MS = 10_000;

/** Reads what a job has printed so far, and whether it still runs. */
export const shellOutput = defineTool({
  ...SHELL_DECLARATION,
  name: "shell_output",
  description: "Reads the output of a job from an offset on, and says whether the job runs.",
  inputSchema: {
    type: "object",
    properties: {
      job_id: JOB_ID_SCHEMA,
      offset: {
        type: "integer",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "`next_offset` of the last answer.",
      },
      wait_ms: {
        type: "integer",
        minimum: 0,
        maximum: MAX_WAIT_MS,
        description: "Wait up to this long for new output.",
      },
    },
    required: ["job_id"],
    additionalProperties: false,
  },
  outputSchema: JOB_OUTPUT_RESULT_SCHEMA,
  bounds: { timeoutMs: MAX_WAIT_MS + GRACE_MS, maxOutputBytes: 32_768 },
  /** A session that may start a job may read its output. */
  narrow: ({ wait_ms: waitMs = 0 }) => ({ effects: [], tier: "read_only", timeoutMs: waitMs + GRACE_MS, maxCpuMs: 0 }),
  textView: jobOutputText,
  async run({ job_id: jobId, offset = 0, wait_ms: waitMs = 0 }, { shell, signal }) {
    const job = await shell.job(jobId);
    return toJobOutputResult(jobId, await job.read(offset, waitMs, signal));
  },
});
