import type { Command } from "./commands/command.ts";
import { COMMAND_TREE } from "./commands/command-tree.ts";
import { createOptionReader } from "./commands/option-reader.ts";
import { parseSimpleLine } from "./commands/parse-simple-line.ts";
import { findCommandWords } from "./commands/find-command-words.ts";
import { quoteShellWords } from "./connect/program-line.ts";
import { homePath } from "./connection/home-path.ts";
import { EXIT_INTERRUPTED, EXIT_OK } from "./terminal/exit-code.ts";
import { watchInterruption } from "./terminal/interruption.ts";
import { isBrokenPipe } from "./terminal/broken-pipe.ts";
import { reportError } from "./terminal/report-error.ts";
import { createTerminal, type Terminal } from "./terminal/terminal.ts";
import { watchUncaughtErrors } from "./terminal/uncaught-errors.ts";

/** Runs one command line, given without the program name, and resolves with the exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  const end = argv.indexOf("--");
  const asked = end < 0 ? argv : argv.slice(0, end);
  const streams = { output: process.stdout, error: process.stderr, environment: process.env };
  const data = findDataOption(asked);
  const terminal = createTerminal(streams, {
    json: asked.includes("--json"),
    ...(data !== undefined && { program: `narthex ${quoteShellWords(["--data", data])}` }),
  });
  const unwatch = watchUncaughtErrors(process.env);
  try {
    const plain = await parseSimpleLine(argv, COMMAND_TREE);
    if (plain !== undefined) return await runCommand(plain.command, plain.words, plain.values, terminal);
    const { runParser } = await import("./commands/run-parser.ts");
    return await runParser(argv, COMMAND_TREE, (...parsed) => runCommand(...parsed, terminal));
  } catch (error) {
    return await reportError(error, terminal, ["narthex", ...findCommandWords(asked, COMMAND_TREE)].join(" "));
  } finally {
    unwatch();
  }
}

/** The home as the user typed it, for advice that repeats it. */
function findDataOption(words: readonly string[]): string | undefined {
  const at = words.indexOf("--data");
  return at < 0 ? words.find((word) => word.startsWith("--data="))?.slice("--data=".length) : words[at + 1];
}

/**
 * A closed pipe stops only the output. The command runs to its end, because its exit code tells whether the ledger is
 * broken or a call was denied, even if `| head -1` reads only the first line.
 */
function ignoreClosedPipe(error: Error): void {
  if (!isBrokenPipe(error)) throw error;
}

async function runCommand(
  command: Command,
  words: readonly string[],
  values: Readonly<Record<string, unknown>>,
  terminal: Terminal,
): Promise<number> {
  const interruption = watchInterruption({ endsOnClosedOutput: command.endsOnClosedOutput === true });
  const options = createOptionReader(values);
  try {
    const exitCode = await command.run({
      arguments: words,
      options,
      home: homePath(options.text("data"), process.env),
      environment: process.env,
      terminal,
      // Standard input is opened only by commands that read it.
      get input() {
        return process.stdin;
      },
      signal: interruption.signal,
    });
    return interruption.endedByClosedOutput ? EXIT_OK : exitCode;
  } catch (error) {
    if (interruption.endedByClosedOutput) return EXIT_OK;
    if (interruption.signal.aborted) return EXIT_INTERRUPTED;
    throw error;
  } finally {
    interruption.stop();
  }
}
