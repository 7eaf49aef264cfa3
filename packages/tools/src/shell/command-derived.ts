import type { JsonObject } from "@narthex/contracts";
import { commandFacts } from "./command-facts.ts";
import { headOf } from "./command-heads.ts";
import { HARMLESS_VARIABLES } from "./read-command.ts";

const TEXT = { type: "string" } as const;
const FLAG = { type: "boolean" } as const;
const TEXTS = { type: "array", items: TEXT } as const;

const REQUIRED =
  "text literal interpreter writes redirects assigns background changes_directory non_ascii network names subcommands heads lines".split(
    " ",
  );

/** Facts about a command that policy rules can use: docs/formats/policy.md. */
export const COMMAND_DERIVED_SCHEMA = {
  type: "object",
  properties: {
    command: {
      type: "object",
      properties: {
        text: TEXT,
        literal: FLAG,
        interpreter: FLAG,
        writes: FLAG,
        redirects: FLAG,
        assigns: FLAG,
        background: FLAG,
        changes_directory: FLAG,
        non_ascii: FLAG,
        network: FLAG,
        names: TEXTS,
        subcommands: TEXTS,
        heads: TEXTS,
        lines: TEXTS,
      },
      required: REQUIRED,
    },
  },
  required: ["command"],
} as const satisfies JsonObject;

export interface CommandInput {
  readonly command: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly network_access?: boolean | undefined;
}

/**
 * SECURITY: for a command that is not literal, the list of programs is incomplete, so a rule that lists programs must
 * check `literal` first. Variables that the call sets count as assignments because they change what programs do, except
 * for a few that mean nothing to loaders, shells and interpreters.
 */
export function commandDerived({ command, env, network_access: network }: CommandInput): JsonObject {
  const facts = commandFacts(command);
  return {
    command: {
      text: command,
      literal: facts.literal,
      interpreter: facts.interpreter,
      writes: facts.writes,
      redirects: facts.redirections.some(({ path }) => path !== "/dev/null"),
      assigns: [...facts.assignments.map(({ name }) => name), ...Object.keys(env ?? {})].some(
        (name) => !HARMLESS_VARIABLES.has(name),
      ),
      background: facts.background,
      changes_directory: facts.changes_directory,
      non_ascii: facts.non_ascii,
      network: network === true,
      names: [...facts.names],
      subcommands: [...facts.subcommands],
      heads: [...new Set(facts.programs.map(headOf))],
      lines: [...new Set(facts.programs.map(({ name, args }) => [name, ...args].map(quoted).join(" ")))],
    },
  };
}

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** SECURITY: different lists of words have different texts: `rm 'a b'` is not `rm a b`. */
function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
