import { type CommandError, usageError } from "../terminal/command-error.ts";
import type { CommandEntry } from "./command.ts";

/** The parser's complaint as one line, and the help that would have told. */
export function usageProblem(complaint: string, argv: readonly string[], tree: readonly CommandEntry[]): CommandError {
  const message = complaint
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean one of (.*)\?\)$/s, "; did you mean one of `$1`?")
    .replace(/\n\(Did you mean (.*)\?\)$/s, "; did you mean `$1`?")
    .replace(/\s*\n\s*/g, " ")
    .replace(/'([^']*)'/g, "`$1`");
  return usageError(message, `run \`${["narthex", ...knownWords(argv, tree), "--help"].join(" ")}\``);
}

/** The leading words that name a command. */
function knownWords(argv: readonly string[], tree: readonly CommandEntry[]): string[] {
  const words = argv.filter((word) => !word.startsWith("-"));
  const entry = tree.find(({ name }) => name === words[0]);
  if (entry === undefined) return [];
  const child = "commands" in entry ? entry.commands.find(({ name }) => name === words[1]) : undefined;
  return child === undefined ? [entry.name] : [entry.name, child.name];
}
