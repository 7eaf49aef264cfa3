import type { Command } from "./commands/command.ts";
import { COMMAND_TREE } from "./commands/command-tree.ts";
import { createOptionReader } from "./commands/option-reader.ts";
import { readPlainLine } from "./commands/read-plain-line.ts";
import { homePath } from "./connection/home-path.ts";
import { EXIT_INTERRUPTED, EXIT_OK } from "./terminal/exit-code.ts";
import { watchInterruption } from "./terminal/interruption.ts";
import { reportError } from "./terminal/report-error.ts";
import { createTerminal, type Terminal } from "./terminal/terminal.ts";

/** Runs one command line, given without the program's own name, and resolves with the exit code. */
export async function runCli(argv: readonly string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", endWithReader);
  const end = argv.indexOf("--");
  const asked = end < 0 ? argv : argv.slice(0, end);
  const streams = { output: process.stdout, error: process.stderr, environment: process.env };
  const terminal = createTerminal(streams, { json: asked.includes("--json") });
  try {
    const plain = await readPlainLine(argv, COMMAND_TREE);
    if (plain !== undefined) return await runCommand(plain.command, plain.words, plain.values, terminal);
    const { runParser } = await import("./commands/run-parser.ts");
    return await runParser(argv, COMMAND_TREE, (...parsed) => runCommand(...parsed, terminal));
  } catch (error) {
    return reportError(error, terminal);
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
  values: Readonly<Record<string, unknown>>,
  terminal: Terminal,
): Promise<number> {
  const interruption = watchInterruption();
  const options = createOptionReader(values);
  try {
    return await command.run({
      arguments: words,
      options,
      home: homePath(options.text("data"), process.env),
      environment: process.env,
      terminal,
      // Opened only by a command that reads it.
      get input() {
        return process.stdin;
      },
      signal: interruption.signal,
    });
  } catch (error) {
    if (interruption.signal.aborted) return EXIT_INTERRUPTED;
    throw error;
  } finally {
    interruption.stop();
  }
}
