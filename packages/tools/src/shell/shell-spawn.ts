import { defineTool } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { commandFiles } from "./approval-files.ts";
import { commandScope } from "./approval-scope.ts";
import { COMMAND_DERIVED_SCHEMA, commandDerived } from "./command-derived.ts";
import { COMMAND_FIELDS, commandCapabilities, SHELL_DECLARATION } from "./command-input.ts";

const DAY_MS = 24 * 3_600_000;

/** Starts a command that keeps running after its call. */
export const shellSpawn = defineTool({
  ...SHELL_DECLARATION,
  name: "shell_spawn",
  description:
    "Starts a command as a background job that lasts until the session ends, and answers its job_id at once. The job has " +
    "a sandbox of its own: other commands see its files, not its processes or its loopback network.",
  inputSchema: {
    type: "object",
    properties: {
      ...COMMAND_FIELDS,
      cwd: {
        type: "string",
        maxLength: 4096,
        description: "Default: the working directory.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 0,
        maximum: DAY_MS,
        description: "Kill it after this time.",
      },
    },
    required: ["command"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { job_id: { type: "string" } }, required: ["job_id"] },
  needs: commandCapabilities,
  approvalScope: commandScope,
  approvalFiles: commandFiles,
  derived: { schema: COMMAND_DERIVED_SCHEMA, of: commandDerived },
  textView: ({ job_id: jobId }) => [`job ${jobId}: started`],
  async run({ command, cwd, env, timeout_ms: timeoutMs }, { shell, session }) {
    const job = await shell.spawn({
      command,
      workingDirectory: workspacePath(cwd || ".", session),
      environment: env ?? {},
      ...(timeoutMs !== undefined && timeoutMs > 0 && { timeoutMs }),
    });
    return { job_id: job.id };
  },
});
