import { describeError } from "./describe-error.ts";
import { labelledLines } from "./labelled-lines.ts";
import type { Terminal } from "./terminal.ts";
import { addHomeToAdvice } from "./add-home-to-advice.ts";
import { formatViolations } from "./violation-lines.ts";
import { visible, visibleLines } from "./visible.ts";

/** Prints what failed and what to do next, for people or as JSON, and returns the exit code. */
export async function reportError(error: unknown, terminal: Terminal, command: string): Promise<number> {
  const described = await describeError(error, command);
  const { code, message, exitCode, violations } = described;
  const next = addHomeToAdvice(described.next, terminal);
  if (terminal.json) {
    const details = violations.length === 0 ? {} : { violations: violations.map((violation) => ({ ...violation })) };
    terminal.printJson({ error: { code, message, next, ...details } });
  } else {
    const paint = terminal.errorPaint;
    const label = (text: string, color: (text: string) => string) => ({ text, width: LABEL_WIDTH, paint: color });
    terminal.note(...labelledLines(label("error:", paint.red), message, terminal));
    terminal.note(...formatViolations(message, violations));
    if (code !== "USAGE") terminal.note(`${paint.dim("code:")}  ${visible(code)}`);
    terminal.note(...labelledLines(label("next:", paint.dim), next, terminal));
  }
  if ((process.env["NARTHEX_DEBUG"] ?? "") !== "") terminal.note(visibleLines(stackOf(error)));
  return exitCode;
}

const LABEL_WIDTH = 7;

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
