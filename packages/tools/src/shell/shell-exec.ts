import { KernelError, MAX_TIMEOUT_MS } from "@narthex/contracts";
import { defineTool, type ShellResult } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import {
  exceededError,
  PROGRAM_OUTPUT_SCHEMA,
  type ProgramOutput,
  toProgramOutput,
  programText,
} from "../programs/program-output.ts";
import { commandFiles } from "./approval-files.ts";
import { commandScope } from "./approval-scope.ts";
import { COMMAND_DERIVED_SCHEMA, commandDerived } from "./command-derived.ts";
import { NETWORK_FIELDS, type NetworkInput, networkEffects, networkCapabilities } from "./network-input.ts";
import { COMMAND_FIELDS, commandCapabilities, SHELL_DECLARATION } from "./command-input.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
/** The program's own timeout ends first, with a result of its own, unless it asks for the maximum. */
const GRACE_MS = 10_000;

/** Runs a command over the workspace, with the configured backend: in a fresh sandbox, or in the session's shell. */
export const shellExec = defineTool({
  ...SHELL_DECLARATION,
  name: "shell_exec",
  description:
    "Runs a command with bash in a sandbox that holds the workspace and no other files of this machine, and has no " +
    "network unless network_access is granted. A non-zero exit code is a result, not an error. Background processes end " +
    "with the command: use shell_spawn for them.",
  inputSchema: {
    type: "object",
    properties: {
      ...COMMAND_FIELDS,
      cwd: {
        type: "string",
        maxLength: 4096,
        description: "Default: the working directory, or that of the session's shell.",
      },
      timeout_ms: {
        type: "integer",
        minimum: 0,
        maximum: MAX_TIMEOUT_MS,
        description: "Default: 60000.",
      },
      ...NETWORK_FIELDS,
      stdin: { type: "string" },
    },
    required: ["command"],
    additionalProperties: false,
  },
  outputSchema: {
    ...PROGRAM_OUTPUT_SCHEMA,
    properties: {
      ...PROGRAM_OUTPUT_SCHEMA.properties,
      notes: {
        type: "array",
        items: { type: "string" },
        description: "What became of the session's shell, or why the network could not be reached.",
      },
    },
  },
  bounds: { timeoutMs: MAX_TIMEOUT_MS, maxOutputBytes: 32_768 },
  effects: [...SHELL_DECLARATION.effects, "net_read", "net_write"],
  capabilities: [...SHELL_DECLARATION.capabilities, { kind: "net_read", hosts: [] }, { kind: "net_write", hosts: [] }],
  needsAnyOf: ["exec"],
  narrow: ({ timeout_ms: timeoutMs, ...input }) => ({
    effects: [...SHELL_DECLARATION.effects, ...networkEffects(input)],
    timeoutMs: Math.min(MAX_TIMEOUT_MS, (timeoutMs || DEFAULT_TIMEOUT_MS) + GRACE_MS),
  }),
  needs: (input, session) => [...commandCapabilities(input, session), ...networkCapabilities(input)],
  approvalScope: commandScope,
  approvalFiles: commandFiles,
  derived: { schema: COMMAND_DERIVED_SCHEMA, of: commandDerived },
  changesByPrograms: true,
  textView: (output) => [...programText(output), ...(output.notes ?? []).map((note) => `[${note}]`)],
  async run({ command, cwd, env, stdin, timeout_ms: timeoutMs, ...network }, { shell, session }) {
    const result = await shell.run({
      command,
      workingDirectory: cwd ? workspacePath(cwd, session) : undefined,
      startDirectory: workspacePath(".", session),
      environment: env ?? {},
      input: new TextEncoder().encode(stdin ?? ""),
      timeoutMs: timeoutMs || DEFAULT_TIMEOUT_MS,
    });
    return answer(result, network);
  },
});

function answer(result: ShellResult, network: NetworkInput): ProgramOutput & { readonly notes?: string[] } {
  const { exceeded } = result;
  const notes = [...result.notes, ...noNetworkNote(result, network)];
  if (exceeded !== undefined && notes.length > 0) {
    const { code, message } = exceededError(exceeded);
    throw new KernelError(code, [message, ...notes].join("; "));
  }
  return { ...toProgramOutput(result), ...(notes.length > 0 && { notes }) };
}

/** Messages of resolvers, the kernel and common clients for a missing network. */
const UNREACHABLE =
  /could not resolve|name resolution|getaddrinfo|EAI_AGAIN|ENOTFOUND|ENETUNREACH|network is unreachable|name or service not known|unable to resolve/i;
const SEARCHED_BYTES = 64 * 1024;

/** A note for a command that failed without network access: its own message sounds like a fault of the host. */
function noNetworkNote({ exitCode, stdout, stderr }: ShellResult, { network_access: asked }: NetworkInput): string[] {
  if (exitCode === 0 || asked === true) return [];
  const ends = [stderr, stdout].flatMap(({ head, tail }) => [head.subarray(0, SEARCHED_BYTES), tail ?? head]);
  const isUnreachable = ends.some((bytes) =>
    UNREACHABLE.test(new TextDecoder().decode(bytes.subarray(-SEARCHED_BYTES))),
  );
  return isUnreachable ? [NO_NETWORK] : [];
}

const NO_NETWORK =
  'the sandbox has no network: a call with "network_access": true and the "hosts" it needs asks for it';
