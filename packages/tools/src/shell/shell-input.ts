import { defineTool } from "@narthex/kernel";
import { SHELL_DECLARATION } from "./command-input.ts";
import { JOB_RESULT_SCHEMA, JOB_ID_SCHEMA, toJobResult, jobText } from "./job-result.ts";

/**
 * Writes to a job's standard input.
 *
 * SECURITY: input for a shell or an interpreter is executed there, so this is equivalent to starting a command that
 * cannot be reviewed beforehand: it stays privileged, and needs the capability to run anything.
 */
export const shellInput = defineTool({
  ...SHELL_DECLARATION,
  name: "shell_input",
  description: "Writes text to the standard input of a job.",
  inputSchema: {
    type: "object",
    properties: {
      job_id: JOB_ID_SCHEMA,
      data: { type: "string", maxLength: 1_048_576, description: "End a line with a line feed." },
      close: { type: "boolean", description: "Close the input afterwards." },
    },
    required: ["job_id", "data"],
    additionalProperties: false,
  },
  outputSchema: JOB_RESULT_SCHEMA,
  /** CPU time is charged to the job. */
  narrow: () => ({ maxCpuMs: 0 }),
  needs: (_, { workspace }) => [
    { kind: "exec", names: ["*"] },
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
  ],
  textView: jobText,
  async run({ job_id: jobId, data, close }, { shell }) {
    const job = await shell.job(jobId);
    await job.write(new TextEncoder().encode(data));
    if (close === true) job.endInput();
    return toJobResult(jobId, job.state);
  },
});
