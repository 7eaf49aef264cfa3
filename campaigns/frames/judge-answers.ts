import assert from "node:assert/strict";
import { blake3, equalBytes, isErrorCode, isRationaleCode, type ToolResponse } from "@narthex/contracts";
import type { FuzzedStream } from "./any-stream.ts";
import type { Fate } from "./door-model.ts";
import type { StreamAnswers } from "./send-stream.ts";

type Answered = Extract<Fate, { fate: "answered" }>;

/** How many answers must come before the client may stop sending; undefined if the door hangs up by itself. */
export function answersToWaitFor({ opening, frames }: FuzzedStream["fate"]): number | undefined {
  if (opening === "wrong" || frames.some(({ fate }) => fate !== "answered")) return undefined;
  return frames.length;
}

/** Throws where the answers of a connection are not what its bytes call for. */
export function judgeAnswers({ fate, results }: FuzzedStream, received: StreamAnswers): void {
  const { answers, hungUp, rest, gaveUp } = received;
  const { opening, frames, endsInside } = fate;
  assert.ok(!gaveUp, `only ${answers.length} answers to ${frames.length} frames, then silence`);
  assert.equal(rest, 0, "an answer broke off");
  if (opening !== "ok") {
    assert.equal(answers.length, 0, "an answer to a wrong or unfinished preface");
    return;
  }
  const firstFatal = frames.findIndex((frame) => frame.fate !== "answered");
  assert.equal(hungUp, firstFatal >= 0, hungUp ? "the door hung up without a reason" : "the door did not hang up");
  assertMatched(frames, answers, results, firstFatal < 0 ? frames.length : firstFatal);

  // Without an id: requests that have none, and at most one answer each to what could not be read at all.
  const nameless = answers.filter(({ requestId }) => requestId === "");
  for (const answer of nameless) assert.equal(codeOf(answer), "INVALID_REQUEST", "an answer without an id");
  const own = (list: readonly Fate[]) => list.filter((frame) => frame.fate === "answered" && frame.id === "").length;
  const least = own(firstFatal < 0 ? frames : frames.slice(0, firstFatal)) + (firstFatal >= 0 || endsInside ? 1 : 0);
  const undecodable = frames.some((frame) => frame.fate === "undecodable") ? 1 : 0;
  const refused = frames.some((frame) => frame.fate === "refused") || endsInside ? 1 : 0;
  const most = own(frames) + undecodable + refused;
  assert.ok(
    nameless.length >= least && nameless.length <= most,
    `${nameless.length} answers without an id, not ${least} to ${most}`,
  );
}

/**
 * Each frame before the first that ends the connection has exactly one answer under its id; of those behind it, which
 * may have been read already, the first few.
 */
function assertMatched(
  frames: readonly Fate[],
  answers: readonly ToolResponse[],
  results: ReadonlyMap<string, string>,
  mustAnswer: number,
): void {
  const open = new Map<string, { frame: Answered; index: number }[]>();
  for (const [index, frame] of frames.entries()) {
    if (frame.fate !== "answered" || frame.id === "") continue;
    const same = open.get(frame.id);
    if (same === undefined) open.set(frame.id, [{ frame, index }]);
    else same.push({ frame, index });
  }
  let furthest = -1;
  for (const answer of answers) {
    if (answer.requestId === "") continue;
    const candidates = open.get(answer.requestId) ?? [];
    const chosen = candidates.findIndex(({ frame }) => fits(answer, frame));
    const found = candidates[chosen];
    assert.ok(found !== undefined, `${codeOf(answer)} under \`${answer.requestId.slice(0, 80)}\` answers no frame`);
    candidates.splice(chosen, 1);
    furthest = Math.max(furthest, found.index);
    assertResult(answer, results.get(answer.requestId));
  }
  for (const { frame, index } of [...open.values()].flat()) {
    assert.ok(index >= mustAnswer, `frame ${index} (\`${frame.id.slice(0, 80)}\`) got no answer`);
    const isCopy = frames.some((other, at) => at !== index && other.fate === "answered" && other.id === frame.id);
    assert.ok(index > furthest || isCopy, `frame ${index} got no answer, and frame ${furthest} behind it did`);
  }
}

function fits(answer: ToolResponse, { answer: expected }: Answered): boolean {
  const code = codeOf(answer);
  if (expected !== "documented") return code === expected;
  return code !== "INVALID_REQUEST" && code !== "SESSION_UNKNOWN" && isDocumented(answer);
}

function isDocumented({ result }: ToolResponse): boolean {
  if (result.case === "error") return isErrorCode(result.value.errorCode);
  if (result.case === "denied") return isRationaleCode(result.value.rationaleCode);
  return result.case === "success";
}

function assertResult({ requestId, result }: ToolResponse, expected: string | undefined): void {
  if (result.case === "error" && result.value.errorCode === "INVALID_REQUEST") {
    assert.ok(result.value.violations.length > 0, "INVALID_REQUEST without a reason");
  }
  if (expected === undefined) return;
  assert.equal(result.case, "success", `valid call ${requestId} was answered otherwise`);
  if (result.case !== "success") return;
  const { inlineResult, resultHash } = result.value;
  assert.equal(Buffer.from(inlineResult).toString(), expected, `valid call ${requestId} has another result`);
  assert.ok(equalBytes(blake3(inlineResult), resultHash), `the hash of ${requestId} is not that of its result`);
}

export function codeOf({ result }: ToolResponse): string {
  if (result.case === "error") return result.value.errorCode;
  return result.case === "denied" ? result.value.rationaleCode : String(result.case);
}
