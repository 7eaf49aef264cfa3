import { isJsonObject } from "@narthex/contracts";
import type { ApprovalScope, ToolSession } from "@narthex/kernel";
import { workspacePath } from "../files/workspace-path.ts";
import { commandDerived } from "./command-derived.ts";
import { commandFacts } from "./command-facts.ts";
import { runsCode } from "./runs-code.ts";

export interface ScopedCommand {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | undefined;
  readonly network_access?: boolean | undefined;
  readonly hosts?: readonly string[] | undefined;
}

/**
 * The program and arguments that an approval for the session covers.
 *
 * SECURITY: only for a command that consists of one program and nothing else, and only for a program that does not run
 * other code: an approval of
 * `bash -lc ...` must not become an approval of `bash`. Any other command is covered only by its exact input.
 */
export function commandScope(input: ScopedCommand, session: ToolSession): ApprovalScope | undefined {
  const facts = commandFacts(input.command);
  const [program, ...others] = facts.programs;
  if (!facts.literal || program === undefined || others.length > 0) return undefined;
  if (facts.redirections.length > 0 || facts.assignments.length > 0) return undefined;
  if (facts.interpreter || facts.background || facts.changes_directory || facts.non_ascii) return undefined;
  if (Object.keys(input.env ?? {}).length > 0 || (input.stdin ?? "") !== "") return undefined;
  if (isInterpreter(program.name)) return undefined;
  // An approval for these hosts does not cover others.
  if (input.hosts !== undefined && input.hosts.length > 0) return undefined;
  return {
    kind: "command",
    words: [program.name, ...program.args],
    line: lineOf(input),
    directory: input.cwd ? workspacePath(input.cwd, session) : "",
    network: input.network_access === true,
  };
}

/** A program that executes its standard input when it has no arguments also executes any file that it gets. */
function isInterpreter(name: string): boolean {
  return runsCode(name.slice(name.lastIndexOf("/") + 1), []);
}

/** The command line as policy rules see it: one program is one line. */
function lineOf(input: ScopedCommand): string {
  const { command } = commandDerived(input);
  const lines = isJsonObject(command) ? command["lines"] : undefined;
  return Array.isArray(lines) ? lines.map(String).join(" ") : "";
}
