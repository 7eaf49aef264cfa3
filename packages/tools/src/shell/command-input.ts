import { KernelError } from "@narthex/contracts";
import type { Capability, ToolSession } from "@narthex/kernel";
import { commandFacts } from "./command-facts.ts";

/** Fields that every tool has that takes a command. */
export const COMMAND_FIELDS = {
  command: { type: "string", minLength: 1, maxLength: 65_536, description: "Run by bash." },
  env: {
    type: "object",
    additionalProperties: { type: "string", maxLength: 32_768 },
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]*$", maxLength: 256 },
    maxProperties: 1000,
    description: "Variables to set for it.",
  },
} as const;

/** What every tool of the shell declares at most. */
export const SHELL_DECLARATION = {
  source: "builtin",
  isolation: "process",
  resultType: "object",
  effects: ["fs_read", "fs_write", "process_spawn"],
  determinism: "nondeterministic",
  tier: "privileged",
  capabilities: [
    { kind: "exec", names: [] },
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
  ],
} as const;

export interface CommandInput {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What a command needs of a lease. One that cannot be run at all is refused here, before anybody is asked about it. */
export function commandNeeds({ command, env }: CommandInput, { workspace }: ToolSession): Capability[] {
  refuseNul(command, env);
  const { literal, names } = commandFacts(command);
  return [
    { kind: "exec", names: literal ? names : ["*"] },
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
  ];
}

/** Throws INVALID_INPUT for what no process can be given. */
function refuseNul(command: string, env: Readonly<Record<string, string>> = {}): void {
  const violations = [
    ...(command.includes("\0") ? [{ field: "$.command", rule: "no_nul", message: "cannot hold a NUL" }] : []),
    ...Object.entries(env)
      .filter(([, value]) => value.includes("\0"))
      .map(([name]) => ({ field: `$.env.${name}`, rule: "no_nul", message: "cannot hold a NUL" })),
  ];
  if (violations.length === 0) return;
  throw new KernelError("INVALID_INPUT", "a command and its variables cannot hold a NUL", { violations });
}
