import { defineTool } from "@narthex/kernel";
import { SHELL_DECLARATION } from "./command-input.ts";
import { JOB_RESULT_SCHEMA, JOB_ID_SCHEMA, toJobResult, jobText } from "./job-result.ts";

/** Kills a job with all its processes. */
export const shellKill = defineTool({
  ...SHELL_DECLARATION,
  name: "shell_kill",
  description: "Kills a job and its processes. Its output stays readable.",
  inputSchema: {
    type: "object",
    properties: { job_id: JOB_ID_SCHEMA },
    required: ["job_id"],
    additionalProperties: false,
  },
  outputSchema: JOB_RESULT_SCHEMA,
  /** Killing the session's own job needs no privilege, and starts nothing. */
  narrow: () => ({ effects: [], tier: "side_effecting", maxCpuMs: 0 }),
  textView: jobText,
  async run({ job_id: jobId }, { shell }) {
    const job = await shell.job(jobId);
    await job.kill();
    return toJobResult(jobId, job.state);
  },
});
