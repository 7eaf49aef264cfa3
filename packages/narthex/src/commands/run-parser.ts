import { CommanderError } from "commander";
import { EXIT_OK, EXIT_USAGE } from "../terminal/exit-code.ts";
import { VERSION } from "../version.ts";
import type { CommandEntry } from "./command.ts";
import { createParser, type ParserOptions } from "./create-parser.ts";
import { helpEpilogue } from "./help-text.ts";
import { usageProblem } from "./usage-problem.ts";

const DESCRIPTION =
  "The tool kernel for AI agents: every call is checked before it runs, contained while it runs, provable after it ran.";

/** Parses any command line: runs its command, shows the requested help, or throws a usage error. */
export async function runParser(
  argv: readonly string[],
  tree: readonly CommandEntry[],
  run: (...parsed: Parameters<ParserOptions["run"]>) => Promise<number>,
): Promise<number> {
  let exitCode = EXIT_OK;
  rejectHelpForUnknown(moveHelpLast(argv), tree);
  const parser = createParser({
    tree,
    description: DESCRIPTION,
    version: VERSION,
    epilogue: helpEpilogue,
    writeHelp: (text, kind) => (kind === "asked" ? process.stdout : process.stderr).write(text),
    async run(...parsed) {
      exitCode = await run(...parsed);
    },
  });
  try {
    await parser.parseAsync(moveHelpLast(argv), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed" || error.code === "commander.version") return EXIT_OK;
    if (error.code === "commander.help") return EXIT_USAGE;
    throw usageProblem(error.message, argv, tree);
  }
}

/** Without this check the parser would show the nearest parent's help for an unknown command and succeed. */
function rejectHelpForUnknown(argv: readonly string[], tree: readonly CommandEntry[]): void {
  const end = argv.indexOf("--");
  const asked = end < 0 ? argv : argv.slice(0, end);
  if (!asked.includes("--help") && !asked.includes("-h")) return;
  const [first, second] = commandWords(asked);
  const entry = tree.find(({ name }) => name === first);
  const unknown = first !== undefined && entry === undefined ? first : unknownChild(entry, second);
  if (unknown !== undefined) throw usageProblem(`unknown command '${unknown}'`, argv, tree);
}

/** Returns the second word after a group's name if it names no command of the group. */
function unknownChild(entry: CommandEntry | undefined, word: string | undefined): string | undefined {
  if (entry === undefined || word === undefined || !("commands" in entry)) return undefined;
  return entry.commands.some(({ name }) => name === word) ? undefined : word;
}

/** Returns the words before and between options; `--data` consumes the next word. */
function commandWords(argv: readonly string[]): string[] {
  return argv.filter((word, at) => !word.startsWith("-") && argv[at - 1] !== "--data");
}

/** Rewrites `help session open` as `session open --help`, so that the command which the help is about is loaded. */
function moveHelpLast(argv: readonly string[]): string[] {
  return argv[0] === "help" ? [...argv.slice(1), "--help"] : [...argv];
}
