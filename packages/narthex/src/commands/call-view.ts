import {
  findCode,
  type JsonObject,
  type JsonValue,
  type ToolDenied,
  ToolDeniedSchema,
  type ToolError,
  ToolErrorSchema,
  type ToolResponse,
  type ToolSuccess,
  ToolSuccessSchema,
  toHex,
} from "@narthex/contracts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_DENIED, EXIT_OK, exitCodeOf } from "../terminal/exit-code.ts";
import { labelledLines } from "../terminal/labelled-lines.ts";
import { messageToJson } from "../terminal/message-json.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { addHomeToAdvice } from "../terminal/add-home-to-advice.ts";
import { formatBytes } from "../terminal/units.ts";
import { formatViolations } from "../terminal/violation-lines.ts";
import { visible, visibleJson, visibleLines } from "../terminal/visible.ts";
import { type CallResultPlace, isJsonResult, resultToJson } from "./call-result.ts";
import { decodeText } from "./decode-text.ts";
import { readJsonText } from "./json-text.ts";
import { readProgramOutput } from "./program-output.ts";

/** The JSON object that `call --json` prints. */
export function responseToJson(response: ToolResponse, place: CallResultPlace | undefined): JsonObject {
  const { requestId, result } = response;
  switch (result.case) {
    case "success": {
      const { inline_result: _, ...fields } = messageToJson(ToolSuccessSchema, result.value);
      return { request_id: requestId, status: "success", ...fields, ...placeToJson(result.value, place) };
    }
    case "denied":
      return { request_id: requestId, status: "denied", ...messageToJson(ToolDeniedSchema, result.value) };
    case "error":
      return { request_id: requestId, status: "error", ...messageToJson(ToolErrorSchema, result.value) };
    default:
      throw new CommandError("KERNEL_UNREACHABLE", "the kernel's answer holds no result");
  }
}

export function exitCodeOfResponse({ result }: ToolResponse): number {
  if (result.case === "success") return EXIT_OK;
  return result.case === "denied" ? EXIT_DENIED : exitCodeOf(result.value?.errorCode ?? "KERNEL_UNREACHABLE");
}

export interface ResponseDetails {
  readonly place: CallResultPlace | undefined;
  /** What to do next, where something more specific is known than the code's own advice. */
  readonly next: string | undefined;
}

/**
 * Prints a response for people: only the result on the output stream, everything else about the call on the error
 * stream.
 */
export async function printResponse(
  response: ToolResponse,
  { place, next }: ResponseDetails,
  terminal: Terminal,
): Promise<void> {
  const { result } = response;
  if (result.case === "denied") return printDenied(result.value, terminal);
  if (result.case === "error") return printError(result.value, next, terminal);
  if (result.case !== "success") throw new CommandError("KERNEL_UNREACHABLE", "the kernel's answer holds no result");
  if (place?.kind === "bytes") await printResult(result.value, place.bytes, terminal);
  if (place?.kind === "file") terminal.note(`wrote ${formatBytes(result.value.resultSize)} to ${visible(place.path)}`);
  if (place?.kind === "store") {
    terminal.note(`the result has ${formatBytes(result.value.resultSize)}: too much to print`);
    terminal.note(
      `next:  ${addHomeToAdvice(`narthex cas get ${toHex(result.value.resultHash)} --out FILE`, terminal)}`,
    );
  }
  if (terminal.errorIsTerminal) terminal.note(terminal.errorPaint.dim(summary(result.value)));
}

async function printResult(success: ToolSuccess, bytes: Uint8Array, terminal: Terminal): Promise<void> {
  if (!terminal.outputIsTerminal) {
    await terminal.writeBytes(bytes);
    if (success.resultType !== "binary" && success.resultType !== "stream") terminal.print("");
    return;
  }
  const text = decodeText(bytes);
  if (text === undefined) {
    terminal.note(`the result is not text (${formatBytes(bytes.length)}); write it to a file with --out FILE`);
  } else if (isJsonResult(success.resultType)) {
    printJsonResult(readJsonText(text), terminal);
  } else {
    terminal.print(visibleLines(text).replace(/\n$/, ""));
  }
}

/** Prints a program's output as text and every other result as JSON. */
function printJsonResult(result: JsonValue, terminal: Terminal): void {
  const program = readProgramOutput(result);
  if (program === undefined) return terminal.print(visibleJson(JSON.stringify(result, undefined, 2)));
  if (program.output !== "") terminal.print(program.output.replace(/\n$/, ""));
  if (program.error !== "") terminal.note(program.error.replace(/\n$/, ""));
  terminal.note(...program.notes.map((note) => terminal.errorPaint.yellow(addHomeToAdvice(note, terminal))));
}

function printDenied(denied: ToolDenied, terminal: Terminal): void {
  const { errorPaint: paint } = terminal;
  const say = (text: string, color: (label: string) => string, said: string): void =>
    terminal.note(...labelledLines({ text, width: 8, paint: color }, said, terminal));
  say("denied:", paint.red, denied.message || denied.rationaleCode);
  say("rule:", paint.dim, `${denied.ruleId}  ${denied.rationaleCode}`);
  const next = findCode(denied.rationaleCode)?.next ?? "look at the policy rule that is named, or ask its author";
  say("next:", paint.dim, addHomeToAdvice(next, terminal));
}

function printError(error: ToolError, advice: string | undefined, terminal: Terminal): void {
  const { errorPaint: paint } = terminal;
  const say = (text: string, color: (label: string) => string, said: string): void =>
    terminal.note(...labelledLines({ text, width: 7, paint: color }, said, terminal));
  say("error:", paint.red, error.message);
  terminal.note(...formatViolations(error.message, error.violations));
  say("code:", paint.dim, `${error.errorCode}${error.effectsPossible ? ", effects are possible" : ""}`);
  const wait = error.retryAfterMs > 0n ? ` (after ${error.retryAfterMs} ms)` : "";
  const next = advice ?? findCode(error.errorCode)?.next ?? "look at the message";
  say("next:", paint.dim, `${addHomeToAdvice(next, terminal)}${wait}`);
  if (error.view !== "") terminal.note(`${paint.dim("it had printed:")}\n${visibleLines(error.view)}`);
}

function placeToJson(success: ToolSuccess, place: CallResultPlace | undefined): JsonObject {
  if (place === undefined) return {};
  if (place.kind === "bytes") return { result: resultToJson(success.resultType, place.bytes) };
  return place.kind === "file" ? { result_file: place.path } : { result_omitted: true };
}

function summary(success: ToolSuccess): string {
  const labels = success.labels.length === 0 ? "" : `, labels ${success.labels.join(" ")}`;
  const again = success.repeatedAnswer ? ", answered before" : "";
  const size = formatBytes(success.resultSize);
  return visible(
    `${success.tool}, ${success.durationMs} ms, ${size}, ${toHex(success.resultHash).slice(0, 16)}…${labels}${again}`,
  );
}
