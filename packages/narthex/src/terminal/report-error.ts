import { describeError } from "./describe-error.ts";
import type { Terminal } from "./terminal.ts";
import { typedAdvice } from "./typed-advice.ts";
import { violationLines } from "./violation-lines.ts";
import { visible, visibleLines } from "./visible.ts";

/** Says what went wrong and what to do next, for people or as JSON, and gives the exit code. */
export async function reportError(error: unknown, terminal: Terminal, command: string): Promise<number> {
  const described = await describeError(error, command);
  const { code, message, exitCode, violations } = described;
  const next = typedAdvice(described.next, terminal);
  if (terminal.json) {
    const details = violations.length === 0 ? {} : { violations: violations.map((violation) => ({ ...violation })) };
    terminal.printJson({ error: { code, message, next, ...details } });
  } else {
    const paint = terminal.errorPaint;
    terminal.note(`${paint.red("error:")} ${visible(message)}`);
    terminal.note(...violationLines(message, violations));
    if (code !== "USAGE") terminal.note(`${paint.dim("code:")}  ${visible(code)}`);
    terminal.note(`${paint.dim("next:")}  ${visible(next)}`);
  }
  if ((process.env["NARTHEX_DEBUG"] ?? "") !== "") terminal.note(visibleLines(stackOf(error)));
  return exitCode;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
