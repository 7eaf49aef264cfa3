import type { Terminal } from "../terminal/terminal.ts";
import type { OptionReader } from "./option-reader.ts";

/** One command: what it takes and what it does. */
export interface Command {
  /** Shown in its help after the summary. */
  readonly details?: string;
  readonly arguments?: readonly ArgumentDescription[];
  readonly options?: readonly OptionDescription[];
  /** Lines that can be typed as they are. */
  readonly examples: readonly string[];
  /** Runs until it is interrupted, and ends with 0 once the reader of its output has left. */
  readonly endsOnClosedOutput?: true;
  /** Resolves with the exit code. */
  run(invocation: Invocation): Promise<number>;
}

export interface ArgumentDescription {
  /** `<tool>` must be given, `[json]` may be left out. */
  readonly name: string;
  readonly description: string;
}

export interface OptionDescription {
  /** Such as `--limit <n>`. */
  readonly flags: string;
  readonly description: string;
  readonly repeatable?: boolean;
}

/** One line of typing, parsed. */
export interface Invocation {
  readonly arguments: readonly string[];
  readonly options: OptionReader;
  /** The kernel's home, absolute. */
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly input: AsyncIterable<Uint8Array>;
  /** Aborts at the first SIGINT or SIGTERM; with `endsWithReader` also once the output's reader has left. */
  readonly signal: AbortSignal;
}

/** A name in the command's tree: loaded only when it is typed. */
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
  /** What the bare name does; without it, the bare name shows help. */
  readonly defaultCommand?: CommandLeaf;
}
