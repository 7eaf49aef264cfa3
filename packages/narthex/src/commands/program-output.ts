import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { formatBytes } from "../terminal/units.ts";
import { visibleLines } from "../terminal/visible.ts";

/** Output of a program and how it ended, for a person at a terminal. */
export interface ProgramOutput {
  readonly output: string;
  readonly error: string;
  /** Notes on how the program ended and on missing output; empty if the program succeeded. */
  readonly notes: readonly string[];
}

/** Reads the result of a tool that runs a program, such as `shell_exec`; returns undefined for any other result. */
export function readProgramOutput(result: JsonValue): ProgramOutput | undefined {
  if (!isJsonObject(result)) return undefined;
  const { exit_code: exitCode, signal, stdout, stderr } = result;
  if (!isJsonObject(stdout) || !isJsonObject(stderr)) return undefined;
  if (typeof stdout["text"] !== "string" || typeof stderr["text"] !== "string") return undefined;
  const ended = describeEnd(exitCode, signal);
  if (ended === undefined) return undefined;
  return {
    output: visibleLines(stdout["text"]),
    error: visibleLines(stderr["text"]),
    notes: [ended, cutNote("output", stdout), cutNote("error output", stderr)].filter((note) => note !== ""),
  };
}

function cutNote(name: string, { cut, size, hash }: JsonObject): string {
  if (cut !== true || typeof size !== "number" || typeof hash !== "string") return "";
  return `the ${name} was cut; all ${formatBytes(size)} of it: \`narthex cas get ${hash}\``;
}

/** Describes how the program ended: empty on success, undefined if the fields do not tell. */
function describeEnd(exitCode: JsonValue | undefined, signal: JsonValue | undefined): string | undefined {
  if (typeof signal === "string") return `ended by ${signal}`;
  if (typeof exitCode !== "number") return undefined;
  return exitCode === 0 ? "" : `exit code ${exitCode}`;
}
