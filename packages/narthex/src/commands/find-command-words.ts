import type { CommandEntry } from "./command.ts";

/** Returns the leading words of a command line that name a command. */
export function findCommandWords(argv: readonly string[], tree: readonly CommandEntry[]): string[] {
  const words = argv.filter((word, at) => !word.startsWith("-") && argv[at - 1] !== "--data");
  const entry = tree.find(({ name }) => name === words[0]);
  if (entry === undefined) return [];
  const child = "commands" in entry ? entry.commands.find(({ name }) => name === words[1]) : undefined;
  return child === undefined ? [entry.name] : [entry.name, child.name];
}
