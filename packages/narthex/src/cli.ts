import { CommanderError } from "commander";
import type { Command } from "./commands/command.ts";
import { COMMAND_TREE } from "./commands/command-tree.ts";
import { createParser } from "./commands/create-parser.ts";
import { createOptionReader, type OptionReader } from "./commands/option-reader.ts";
import { usageProblem } from "./commands/usage-problem.ts";
import { homePath } from "./connection/home-path.ts";
import { EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE } from "./terminal/exit-code.ts";
import { watchInterruption } from "./terminal/interruption.ts";
import { reportError } from "./terminal/report-error.ts";
import { createTerminal, type Terminal } from "./terminal/terminal.ts";
import { VERSION } from "./version.ts";

const DESCRIPTION =
  "The tool kernel for AI agents: every call is checked before it runs, contained while it runs, provable after it ran.";

const EPILOGUE = `
Start here:
  $ narthex serve --first-session                 # a kernel, and a session to try it with
  $ narthex call echo '{"text":"hello"}'          # one tool call, from another terminal
  $ narthex watch                                 # every call as it happens
  $ narthex ledger verify                         # nothing was changed or removed

For your own agent:
  $ narthex session open --workspace ~/project    # a session; its token is kept for you
  $ narthex mcp --workspace ~/project             # the same for any MCP client

Exit codes: 0 ok, 1 tool error, 2 usage, 3 denied, 4 invalid input, 5 kernel unavailable,
            20 ledger broken, 30 ledger unreadable.`;

/** Runs one command line, given without the program's own name, and resolves with the exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endWithReader);
  const end = argv.indexOf("--");
  const asked = end < 0 ? argv : argv.slice(0, end);
  const streams = { output: process.stdout, error: process.stderr, environment: process.env };
  const terminal = createTerminal(streams, { json: asked.includes("--json") });
  let exitCode = EXIT_OK;
  const parser = createParser({
    tree: COMMAND_TREE,
    description: DESCRIPTION,
    version: VERSION,
    epilogue: EPILOGUE,
    writeHelp: (text, kind) => (kind === "asked" ? process.stdout : process.stderr).write(text),
    async run(command, words, values) {
      exitCode = await runCommand(command, words, createOptionReader(values), terminal);
    },
  });
  try {
    await parser.parseAsync(helpLast(argv), { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return reportError(error, terminal);
    if (error.code === "commander.helpDisplayed" || error.code === "commander.version") return EXIT_OK;
    if (error.code === "commander.help") return EXIT_USAGE;
    return reportError(usageProblem(error.message, argv, COMMAND_TREE), terminal);
  }
}

/** Whoever read the output has left, as `| head` does: there is nobody to tell anything more. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
  process.exit(EXIT_OK);
}

async function runCommand(
  command: Command,
  words: readonly string[],
  options: OptionReader,
  terminal: Terminal,
): Promise<number> {
  const interruption = watchInterruption();
  try {
    return await command.run({
      arguments: words,
      options,
      home: homePath(options.text("data"), process.env),
      environment: process.env,
      terminal,
      input: process.stdin,
      signal: interruption.signal,
    });
  } catch (error) {
    if (interruption.signal.aborted) return EXIT_INTERRUPTED;
    throw error;
  } finally {
    interruption.stop();
  }
}

/** `help session open` means `session open --help`: only so is the command loaded that help is about. */
function helpLast(argv: readonly string[]): string[] {
  return argv[0] === "help" ? [...argv.slice(1), "--help"] : [...argv];
}
