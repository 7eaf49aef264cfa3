import { toProgramOutput, PROGRAM_OUTPUT_SCHEMA } from "../../../packages/tools/src/programs/program-output.ts";
import { defineTool } from "narthex";

/** A tool like `shell_exec`, whose limits are the attacker's to choose: small ones make attacks on them quick. */
export const limitedRun = defineTool({
  name: "limited_run",
  description: "Runs a command under small limits.",
  source: "subprocess",
  isolation: "process",
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string" },
      memory_bytes: { type: "integer" },
      processes: { type: "integer" },
      cpu_ms: { type: "integer" },
      output_bytes: { type: "integer" },
      timeout_ms: { type: "integer" },
    },
    required: ["command"],
    additionalProperties: false,
  },
  outputSchema: PROGRAM_OUTPUT_SCHEMA,
  resultType: "object",
  effects: ["fs_read", "fs_write", "process_spawn"],
  capabilities: [
    { kind: "exec", names: [] },
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
  ],
  bounds: { timeoutMs: 60_000 },
  needs: (_, { workspace }) => [
    { kind: "exec", names: ["*"] },
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
  ],
  async run(input, { programs }) {
    const result = await programs.run({
      command: ["/bin/bash", "-c", input.command],
      workingDirectory: ".",
      hasHome: true,
      limits: {
        ...(input.memory_bytes !== undefined && { memoryBytes: input.memory_bytes }),
        ...(input.processes !== undefined && { processes: input.processes }),
        ...(input.cpu_ms !== undefined && { cpuMs: input.cpu_ms }),
      },
      ...(input.output_bytes !== undefined && { maxOutputBytes: input.output_bytes }),
      timeoutMs: input.timeout_ms ?? 30_000,
    });
    return toProgramOutput(result);
  },
});

/** Nobody is asked: the sandbox alone has to hold. */
export const RULES = [
  "shell_exec",
  "shell_spawn",
  "limited_run",
  "file_read",
  "file_list",
  "file_write",
  "file_edit",
  "file_move",
  "file_delete",
]
  .map((tool) => `@id("attack-${tool}") @approve("none") permit(principal, action == Action::"${tool}", resource);`)
  .join("\n");
