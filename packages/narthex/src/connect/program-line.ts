import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";

/** How a client starts this very program. */
export interface ProgramLine {
  readonly command: string;
  readonly arguments: readonly string[];
}

/**
 * Uses the absolute paths of this Node and this program, wherever it was started from: npx, a global installation, a
 * checkout.
 *
 * SECURITY: not `npx narthex`. That runs the workspace's own `narthex` from node_modules, or downloads one, at every
 * start of the client; and the agent can write in the workspace. An absolute path is the program that the user ran, or
 * nothing.
 */
export function createProgramLine(words: readonly string[], home: string): ProgramLine {
  return { command: process.execPath, arguments: [programPath(), ...words, ...dataOption(home)] };
}

/** Needed if the home is not the default one. */
export function dataOption(home: string): readonly string[] {
  return home === join(homedir(), ".narthex") ? [] : ["--data", home];
}

/** Path of the launcher that Node was started with, with npm's symbolic link resolved. */
function programPath(): string {
  return realpathSync(process.argv[1] ?? "");
}

/** Formats the program line for a shell. */
export function toShellLine({ command, arguments: words }: ProgramLine): string {
  return quoteShellWords([command, ...words]);
}

export function quoteShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Warns about the program's location; undefined if there is nothing to warn about. */
export function programWarning(workspace: string): string | undefined {
  const program = programPath();
  if (program.includes(`${sep}_npx${sep}`)) {
    return "it runs from npx's cache, which npm may empty: install it globally and connect again to keep it";
  }
  if (relative(workspace, program).startsWith(`..${sep}`)) return undefined;
  return "narthex itself lies in this workspace, where an agent may change it: install it globally (`npm run install:global`) and connect again";
}
