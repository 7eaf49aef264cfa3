import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, sep } from "node:path";

/** How a client starts this very program. */
export interface ProgramLine {
  readonly command: string;
  readonly arguments: readonly string[];
}

/**
 * This Node and this program by their absolute paths, wherever it was started from: npx, a global installation, a checkout.
 *
 * SECURITY: not `npx narthex`. That runs what the workspace's own node_modules calls so, or downloads it, at every start
 * of the client; and the agent writes in the workspace. An absolute path is the program that the user ran, or none.
 */
export function createProgramLine(words: readonly string[], home: string): ProgramLine {
  return { command: process.execPath, arguments: [programPath(), ...words, ...dataOption(home)] };
}

/** Needed where the home is not the usual one. */
export function dataOption(home: string): readonly string[] {
  return home === join(homedir(), ".narthex") ? [] : ["--data", home];
}

/** The launcher that Node was given, behind npm's link to it. */
function programPath(): string {
  return realpathSync(process.argv[1] ?? "");
}

/** As a line for a shell. */
export function toShellLine({ command, arguments: words }: ProgramLine): string {
  return quoteShellWords([command, ...words]);
}

export function quoteShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(" ");
}

function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** What a person should know of where the program lies; undefined if all is well. */
export function programWarning(workspace: string): string | undefined {
  const program = programPath();
  if (program.includes(`${sep}_npx${sep}`)) {
    return "it runs from npx's cache, which npm may empty: install it globally and connect again to keep it";
  }
  if (relative(workspace, program).startsWith(`..${sep}`)) return undefined;
  return "narthex itself lies in this workspace, where an agent may change it: install it globally (`npm run install:global`) and connect again";
}
