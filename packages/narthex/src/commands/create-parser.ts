import { Option, Command as Parser } from "commander";
import type { Command, CommandEntry, CommandLeaf, OptionDescription } from "./command.ts";
import { usageError } from "../terminal/command-error.ts";
import { exampleLines } from "./help-text.ts";
import { GLOBAL_OPTIONS } from "./global-options.ts";

export interface ParserOptions {
  readonly tree: readonly CommandEntry[];
  readonly description: string;
  readonly version: string;
  /** Printed at the end of the top-level help. */
  epilogue(width: number | undefined): string;
  writeHelp(text: string, kind: "asked" | "needed"): void;
  /** Called with the chosen command once it is loaded. */
  run(command: Command, words: readonly string[], values: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Creates a parser that loads a command's file only when that command is used. */
export function createParser(options: ParserOptions): Parser {
  const parser = new Parser("narthex")
    .description(options.description)
    .version(options.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand(false)
    .addHelpText("after", ({ error }) => options.epilogue(columnsOf(error)))
    .exitOverride()
    .showSuggestionAfterError(true)
    .configureHelp({ showGlobalOptions: true, minWidthToWrap: 12 })
    .configureOutput({
      writeOut: (text) => options.writeHelp(text, "asked"),
      writeErr: (text) => options.writeHelp(text, "needed"),
      // The caller that catches the error reports it.
      outputError: () => undefined,
    });
  for (const option of GLOBAL_OPTIONS) parser.addOption(createOption(option));
  for (const entry of options.tree) addEntry(parser, entry, options);
  return parser;
}

function addEntry(parent: Parser, entry: CommandEntry, options: ParserOptions): void {
  const parser = parent
    .command(entry.name)
    .summary(entry.summary)
    .description(sentence(entry.summary))
    .helpCommand(false);
  if (!("commands" in entry)) return loadWhenChosen(parent, parser, entry, options);
  for (const child of entry.commands) addEntry(parser, child, options);
  if (entry.defaultCommand !== undefined) loadWhenChosen(parent, parser, entry.defaultCommand, options);
}

function loadWhenChosen(parent: Parser, parser: Parser, leaf: CommandLeaf, options: ParserOptions): void {
  parent.hook("preSubcommand", async (_, chosen) => {
    if (chosen === parser) describe(parser, await leaf.load(), options);
  });
}

function describe(parser: Parser, command: Command, options: ParserOptions): void {
  for (const argument of command.arguments ?? []) parser.argument(argument.name, argument.description);
  for (const option of command.options ?? []) parser.addOption(createOption(option));
  if (command.details !== undefined) parser.description(`${parser.description()}\n\n${command.details}`);
  parser.addHelpText("after", ({ error }) => exampleLines(command.examples, columnsOf(error)));
  parser.action(() => options.run(command, parser.args, parser.optsWithGlobals()));
}

/** Width of the stream that help is printed on; undefined if it is not a terminal. */
function columnsOf(isError: boolean): number | undefined {
  const stream = isError ? process.stderr : process.stdout;
  return stream.isTTY ? stream.columns : undefined;
}

function createOption({ flags, description, repeatable }: OptionDescription): Option {
  const option = new Option(flags, description);
  if (repeatable === true) {
    return option.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  // The error does not repeat the value, which may be a secret.
  return option.argParser((value: string, before: unknown) => {
    if (before === undefined) return value;
    throw usageError(`\`${flags}\` is given twice`, "give it once: only one of them could count");
  });
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
