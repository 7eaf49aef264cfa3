import { KernelError } from "@narthex/contracts";
import { type Capability, defineTool } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { PROGRAM_ANSWER, programAnswer } from "../programs/program-answer.ts";
import { commandFacts } from "./command-facts.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_TIMEOUT_MS = 3_600_000;
/** The program's own time ends first, so that its output is kept. */
const GRACE_MS = 10_000;

/** Runs a command in a fresh sandbox over the workspace. */
export const shellExec = defineTool({
  name: "shell_exec",
  description:
    "Runs a shell command in the workspace, in a sandbox without network. Files outside the workspace do not exist there. " +
    "A non-zero exit code is a result, not an error.",
  source: "builtin",
  isolation: "process",
  inputSchema: {
    type: "object",
    properties: {
      command: { type: "string", minLength: 1, maxLength: 65_536, description: "Run by bash." },
      cwd: {
        type: "string",
        maxLength: 4096,
        description: "Where to run it; the session's working directory by default.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 0,
        maximum: MAX_TIMEOUT_MS - GRACE_MS,
        description: "0 or nothing: a minute.",
      },
      network_access: { type: "boolean", description: "Ask for the network." },
      env: {
        type: "object",
        additionalProperties: { type: "string", maxLength: 32_768 },
        propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]*$", maxLength: 256 },
        maxProperties: 1000,
        description: "Variables to set.",
      },
      stdin: { type: "string", description: "What the command can read from its standard input." },
    },
    required: ["command"],
    additionalProperties: false,
  },
  outputSchema: PROGRAM_ANSWER,
  resultType: "object",
  effects: ["fs_read", "fs_write", "process_spawn"],
  determinism: "nondeterministic",
  tier: "privileged",
  capabilities: [
    { kind: "exec", names: [] },
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
  ],
  bounds: { timeoutMs: MAX_TIMEOUT_MS, maxOutputBytes: 32_768 },
  narrow: ({ timeout_ms: timeoutMs }) => ({
    timeoutMs: Math.min(MAX_TIMEOUT_MS, (timeoutMs || DEFAULT_TIMEOUT_MS) + GRACE_MS),
  }),
  needs({ command }, { workspace }): Capability[] {
    const { literal, names } = commandFacts(command);
    return [
      { kind: "exec", names: literal ? names : ["*"] },
      { kind: "fs_read", prefixes: [workspace] },
      { kind: "fs_write", prefixes: [workspace] },
    ];
  },
  async run(input, { programs, session }) {
    if (input.network_access === true) {
      throw new KernelError(
        "SANDBOX_UNAVAILABLE",
        "there is no network for programs here; run it without network_access",
      );
    }
    if (input.command.includes("\0")) throw new KernelError("INVALID_INPUT", "a command cannot hold a NUL");
    const result = await programs.run({
      command: ["/bin/bash", "-c", input.command],
      workingDirectory: workspacePath(input.cwd || ".", session),
      environment: input.env ?? {},
      hasHome: true,
      timeoutMs: input.timeout_ms || DEFAULT_TIMEOUT_MS,
      ...(input.stdin !== undefined && { input: new TextEncoder().encode(input.stdin) }),
    });
    return programAnswer(result);
  },
});
