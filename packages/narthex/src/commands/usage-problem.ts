import { type CommandError, usageError } from "../terminal/command-error.ts";
import type { CommandEntry } from "./command.ts";
import { findCommandWords } from "./find-command-words.ts";

/** Turns the parser's error into one line, with advice that names the matching help. */
export function usageProblem(complaint: string, argv: readonly string[], tree: readonly CommandEntry[]): CommandError {
  const message = complaint
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean one of (.*)\?\)$/s, "; did you mean one of `$1`?")
    .replace(/\n\(Did you mean (.*)\?\)$/s, "; did you mean `$1`?")
    .replace(/\s*\n\s*/g, " ")
    .replace(/'([^']*)'/g, "`$1`");
  return usageError(message, `run \`${["narthex", ...findCommandWords(argv, tree), "--help"].join(" ")}\``);
}
