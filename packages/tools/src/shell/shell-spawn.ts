import { defineTool } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { commandFiles } from "./approval-files.ts";
import { commandScope } from "./approval-scope.ts";
import { COMMAND_DERIVED_SCHEMA, commandDerived } from "./command-derived.ts";
import { COMMAND_FIELDS, commandNeeds, SHELL_DECLARATION } from "./command-input.ts";

const DAY_MS = 24 * 3_600_000;

/** Starts a command that goes on after its call. */
export const shellSpawn = defineTool({
  ...SHELL_DECLARATION,
  name: "shell_spawn",
  description:
    "Starts a shell command as a job of the session and answers at once. Its output is read with shell_output, its input " +
    "written with shell_input, and shell_kill ends it; it ends with the session. It runs in a sandbox of its own: other " +
    "commands see the files it writes, not its processes or its loopback network.",
  inputSchema: {
    type: "object",
    properties: {
      ...COMMAND_FIELDS,
      cwd: {
        type: "string",
        maxLength: 4096,
        description: "Where to run it; the session's working directory by default.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 0,
        maximum: DAY_MS,
        description: "It is killed after this; 0 or nothing: when the session ends.",
      },
    },
    required: ["command"],
    additionalProperties: false,
  },
  outputSchema: { type: "object", properties: { job_id: { type: "string" } }, required: ["job_id"] },
  needs: commandNeeds,
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
