import { KernelError, MAX_ARG_LEN, MAX_COMMAND_LEN, MAX_REPEATED_ITEMS } from "@narthex/contracts";
import type { Capability, ToolSession } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { commandFacts } from "./command-facts.ts";

/** Fields that every tool has that takes a command. */
export const COMMAND_FIELDS = {
  command: { type: "string", minLength: 1, maxLength: MAX_COMMAND_LEN },
  env: {
    type: "object",
    additionalProperties: { type: "string", maxLength: MAX_ARG_LEN },
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]*$", maxLength: 256 },
    maxProperties: MAX_REPEATED_ITEMS,
    description: "Environment variables.",
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
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What a command needs of a lease. One that cannot be run at all is refused here, before anybody is asked about it. */
export function commandCapabilities({ command, cwd, env }: CommandInput, session: ToolSession): Capability[] {
  if (cwd) workspacePath(cwd, session);
  refuseLoaderVariables(env);
  const { workspace } = session;
  const { literal, names } = commandFacts(command);
  return [
    { kind: "exec", names: literal ? names : ["*"] },
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
  ];
}

/** The loader of a program's libraries, or a shell, takes these for instructions, before any limit is set. */
const LOADER_VARIABLE =
  /^(?:LD_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|OPENSSL_.*|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/;

/** Throws INVALID_INPUT for variables that no sandbox is given from outside, whichever backend runs the command. */
function refuseLoaderVariables(env: Readonly<Record<string, string>> = {}): void {
  const message = "is a variable of the loader: set it in the command";
  const violations = Object.keys(env)
    .filter((name) => LOADER_VARIABLE.test(name))
    .map((name) => ({ field: `env.${name}`, rule: "format", message: `\`${name}\` ${message}` }));
  if (violations.length === 0) return;
  throw new KernelError("INVALID_INPUT", violations.map((violation) => violation.message).join("; "), { violations });
}
