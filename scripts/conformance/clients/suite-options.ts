import { parseArgs } from "node:util";
import type { AgentClient } from "./agent-client.ts";
import { AGENT_CLIENTS } from "./agent-clients.ts";
import type { Check } from "./check.ts";
import { CHECKS } from "./checks/index.ts";

export interface SuiteOptions {
  readonly clients: readonly AgentClient[];
  readonly checks: readonly Check[];
  /** Whether homes and projects are kept after the run. */
  readonly isKept: boolean;
  /** Whether the table is written into the documentation. */
  readonly isWritten: boolean;
}

export const HELP = `npm run conformance:clients -- [--client NAME]... [--check NAME]... [--keep] [--write]

Runs coding agents from npm, unmodified, with narthex in front of a project: each in a home of its own, without network,
on a model that follows a script. Clients are installed into $XDG_CACHE_HOME/narthex/clients (about 1.4 GB in all).

  --client NAME  only this client: ${AGENT_CLIENTS.map(({ name }) => name).join(", ")}
  --check NAME   only this check, after \`narthex connect\`
  --keep         leave homes and projects where they are, and say where
  --write        write the table into docs/clients.md; needs a run of all clients and all checks

Checks:
${CHECKS.map(({ name, title }) => `  ${name.padEnd(13)} ${title}`).join("\n")}

Exit codes: 0 nothing failed, 1 a check failed or a client could not be installed, 2 invalid arguments.`;

/** Undefined if help is requested. Throws on unknown arguments. */
export function parseSuiteOptions(words: readonly string[]): SuiteOptions | undefined {
  const { values } = parseArgs({
    args: [...words],
    options: {
      client: { type: "string", multiple: true },
      check: { type: "string", multiple: true },
      keep: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const isPart = values.client !== undefined || values.check !== undefined;
  if (values.write && isPart) throw new Error("--write needs a run of all clients and all checks");
  return {
    clients: choose(AGENT_CLIENTS, values.client, "client"),
    checks: choose(CHECKS, values.check, "check"),
    isKept: values.keep,
    isWritten: values.write,
  };
}

function choose<T extends { readonly name: string }>(
  all: readonly T[],
  names: readonly string[] | undefined,
  kind: string,
): readonly T[] {
  const unknown = names?.find((name) => all.every((one) => one.name !== name));
  if (unknown !== undefined) {
    throw new Error(`unknown ${kind} \`${unknown}\`; expected ${all.map(({ name }) => name).join(", ")}`);
  }
  return all.filter(({ name }) => names?.includes(name) ?? true);
}
