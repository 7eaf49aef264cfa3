import type { JsonObject } from "@narthex/contracts";
import type { ApprovalResolution } from "@narthex/kernel";
import type { NodeRequest, NodeResponse } from "../service/http-listener.ts";
import type { ConsoleKernel } from "./console-kernel.ts";
import type { ConsoleLimits } from "./console-limits.ts";
import { ConsoleRefusal } from "./console-refusal.ts";
import { runLiveStream } from "./live-stream.ts";
import { textField } from "./read-json-body.ts";
import { toStandingView } from "./approval-view.ts";
import { toJsonView } from "./input-view.ts";
import { toTextView } from "./text-view.ts";
import type { SignedIn, SignIns } from "./sign-ins.ts";

export interface ConsoleApiOptions {
  readonly kernel: ConsoleKernel;
  readonly limits: ConsoleLimits;
  readonly signIns: SignIns;
  readonly version: string;
  nowMs(): number;
}

/** A request by a signed-in user. */
export interface ApiCall {
  readonly request: NodeRequest;
  readonly response: NodeResponse;
  readonly body: JsonObject;
  readonly by: SignedIn;
  readonly signal: AbortSignal;
}

/** Returns the JSON to respond with, or undefined if it has sent the response itself. */
type ApiMethod = (call: ApiCall) => Promise<object | undefined>;

const DOOR = "console";
const DECISIONS: ReadonlySet<string> = new Set(["once", "session", "rule", "deny"]);
const MAX_ID = 256;
const MAX_REASON = 500;

/** Creates the methods that the page may call, by the last part of their path. */
export function createConsoleApi(options: ConsoleApiOptions): ReadonlyMap<string, ApiMethod> {
  const { kernel, limits, signIns, version, nowMs } = options;
  let streams = 0;

  async function live({ response, by, signal }: ApiCall): Promise<undefined> {
    if (streams >= limits.maxLiveStreams) throw new ConsoleRefusal(503, "", "too many pages are open; close one");
    streams++;
    const untilExpiry = AbortSignal.timeout(Math.max(0, by.expiresAtMs - nowMs()));
    const greeting = { version, approver: toTextView(by.approver) };
    try {
      const until = AbortSignal.any([signal, by.ended, untilExpiry]);
      await runLiveStream(response, { kernel, limits, greeting, signal: until, nowMs });
    } finally {
      streams--;
    }
  }

  async function answer({ body, by }: ApiCall): Promise<object> {
    const reason = textField(body, "reason", MAX_REASON);
    const resolved = await kernel.resolveApproval({
      approvalId: textField(body, "id", MAX_ID),
      answer: answerField(body),
      approver: by.approver,
      door: DOOR,
      ...(reason === "" ? {} : { reason }),
    });
    const { standing, isAwaited } = resolved;
    return {
      answer: resolved.answer,
      isAwaited,
      ...(standing === undefined ? {} : { standing: toStandingView(standing) }),
    };
  }

  async function revoke({ body, by }: ApiCall): Promise<object> {
    const standingId = textField(body, "id", MAX_ID);
    return { standing: toStandingView(await kernel.revokeApproval({ standingId, by: by.approver })) };
  }

  async function input({ body }: ApiCall): Promise<object> {
    const id = textField(body, "id", MAX_ID);
    const { offset } = body;
    if (typeof offset !== "number" || !Number.isSafeInteger(offset) || offset < 0) {
      throw new ConsoleRefusal(400, "malformed", "`offset` is a whole number");
    }
    const question = kernel.listApprovals().open.find(({ approvalId }) => approvalId === id);
    if (question === undefined) throw new ConsoleRefusal(404, "", "this question is no longer open");
    return toJsonView(question.input, offset, limits);
  }

  async function signOut({ by }: ApiCall): Promise<object> {
    signIns.end(by);
    return {};
  }

  return new Map<string, ApiMethod>([
    ["live", live],
    ["answer", answer],
    ["revoke", revoke],
    ["input", input],
    ["sign-out", signOut],
  ]);
}

function answerField(body: JsonObject): ApprovalResolution["answer"] {
  const answer = textField(body, "answer", MAX_ID);
  if (!isDecision(answer)) throw new ConsoleRefusal(400, "malformed", "`answer` is once, session, rule or deny");
  return answer;
}

function isDecision(answer: string): answer is ApprovalResolution["answer"] {
  return DECISIONS.has(answer);
}
