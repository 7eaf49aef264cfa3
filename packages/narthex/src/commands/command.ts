import type { Terminal } from "../terminal/terminal.ts";
import type { OptionReader } from "./option-reader.ts";

/** A command: its arguments, options and implementation. */
export interface Command {
  /** Shown in the command's help after the summary. */
  readonly details?: string;
  readonly arguments?: readonly ArgumentDescription[];
  readonly options?: readonly OptionDescription[];
  /** Command lines that can be copied and run. */
  readonly examples: readonly string[];
  /** The command runs until it is interrupted, and exits with 0 once its output pipe is closed. */
  readonly endsOnClosedOutput?: true;
  /** Resolves with the exit code. */
  run(invocation: Invocation): Promise<number>;
}

export interface ArgumentDescription {
  /** `<tool>` is required, `[json]` is optional. */
  readonly name: string;
  readonly description: string;
}

export interface OptionDescription {
  /** For example `--limit <n>`. */
  readonly flags: string;
  readonly description: string;
  readonly repeatable?: boolean;
}

/** One parsed command line. */
export interface Invocation {
  readonly arguments: readonly string[];
  readonly options: OptionReader;
  /** Absolute path of the kernel's home. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly input: AsyncIterable<Uint8Array>;
  /** Aborts at the first SIGINT or SIGTERM; with `endsOnClosedOutput` also once the output pipe is closed. */
  readonly signal: AbortSignal;
}

/** An entry in the command tree; its file is loaded only when it is used. */
export type CommandEntry = CommandLeaf | CommandGroup;

export interface CommandLeaf {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandLeaf[];
  /** Command that the bare group name runs; without it, the bare name shows help. */
  readonly defaultCommand?: CommandLeaf;
}
