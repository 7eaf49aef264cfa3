import type { JsonValue } from "@narthex/contracts";
import { createPaint, type Paint } from "./paint.ts";
import { isBrokenPipe } from "./broken-pipe.ts";
import { visibleJson } from "./visible.ts";

/** Output of a command. Results go to the output stream, everything else to the error stream. */
export interface Terminal {
  /** The caller wants JSON: the output stream carries only JSON objects. */
  readonly json: boolean;
  /** What to type to reach the same home: `narthex`, with `--data DIR` if that was given. */
  readonly program: string;
  readonly outputIsTerminal: boolean;
  /** Width of the output in characters; undefined if it is not a terminal and lines may have any length. */
  readonly columns: number | undefined;
  readonly errorIsTerminal: boolean;
  /** Width of the error stream. */
  readonly errorColumns: number | undefined;
  readonly paint: Paint;
  readonly errorPaint: Paint;
  /** Prints result lines for people. */
  print(...lines: readonly string[]): void;
  /** Prints one JSON value; indented on a terminal. */
  printJson(value: JsonValue): void;
  /** Prints one JSON value on exactly one line, also on a terminal. */
  printJsonLine(value: JsonValue): void;
  /** Writes raw bytes. Resolves when the stream accepts more, or its pipe is closed. */
  writeBytes(bytes: Uint8Array): Promise<void>;
  /** Prints lines about the work rather than the result. */
  note(...lines: readonly string[]): void;
  writeError(text: string): void;
}

export interface TerminalStreams {
  readonly output: TerminalStream;
  readonly error: TerminalStream;
  readonly environment: NodeJS.ProcessEnv;
}

export interface TerminalStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): boolean;
}

export interface TerminalOptions {
  readonly json: boolean;
  readonly program?: string;
}

export function createTerminal(streams: TerminalStreams, options: TerminalOptions): Terminal {
  const { output, error, environment } = streams;
  const outputIsTerminal = output.isTTY === true;
  const printLines = (stream: TerminalStream, lines: readonly string[]): void => {
    if (lines.length > 0) stream.write(`${lines.join("\n")}\n`);
  };
  const printJsonLine = (value: JsonValue): void => {
    output.write(`${visibleJson(JSON.stringify(value))}\n`);
  };
  return {
    json: options.json,
    program: options.program ?? "narthex",
    outputIsTerminal,
    columns: outputIsTerminal ? output.columns : undefined,
    errorIsTerminal: error.isTTY === true,
    errorColumns: error.isTTY === true ? error.columns : undefined,
    paint: createPaint(output, environment),
    errorPaint: createPaint(error, environment),
    print: (...lines) => printLines(output, lines),
    printJson(value) {
      if (outputIsTerminal) output.write(`${visibleJson(JSON.stringify(value, undefined, 2))}\n`);
      else printJsonLine(value);
    },
    printJsonLine,
    writeBytes: (bytes) =>
      new Promise((resolve, reject) => {
        output.write(bytes, (failure) => (failure && !isBrokenPipe(failure) ? reject(failure) : resolve()));
      }),
    note: (...lines) => printLines(error, lines),
    writeError(text) {
      error.write(text);
    },
  };
}
