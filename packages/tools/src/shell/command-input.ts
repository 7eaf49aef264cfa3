import { KernelError, MAX_ARG_LEN, MAX_COMMAND_LEN, MAX_REPEATED_ITEMS } from "@narthex/contracts";
import type { Capability, ToolSession } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { commandFacts } from "./command-facts.ts";

/** Input fields of every tool that takes a command. */
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

/** The most that any shell tool declares. */
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

/**
 * The capabilities that a command needs. A command that cannot run at all is refused here, before its approval is
 * requested.
 */
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

/** Variables that the dynamic loader or a shell executes or obeys before any limit is set. */
const LOADER_VARIABLE =
  /^(?:LD_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|OPENSSL_.*|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/;

/** Throws INVALID_INPUT for variables that must not be passed into a sandbox, whichever backend runs the command. */
function refuseLoaderVariables(env: Readonly<Record<string, string>> = {}): void {
  const message = "is a variable of the loader: set it in the command";
  const violations = Object.keys(env)
    .filter((name) => LOADER_VARIABLE.test(name))
    .map((name) => ({ field: `env.${name}`, rule: "format", message: `\`${name}\` ${message}` }));
  if (violations.length === 0) return;
  throw new KernelError("INVALID_INPUT", violations.map((violation) => violation.message).join("; "), { violations });
}
