import { blake3, encodeResponse, type ToolResponse, toHex } from "@narthex/contracts";
import { type CallResult, isKernelError, type NarthexKernel } from "narthex";
import type { LoadCall } from "./load-call.ts";

/** A session, as anyone who calls through it needs to know it. */
export interface LoadSession {
  readonly id: string;
  readonly token: string;
}

/** How a call was answered, in one line: `success`, result hash and response hash, or what else and its code. */
export type AnswerLine = string;

/** Makes a planned call, storing first what it publishes. */
export async function makeCall(
  kernel: NarthexKernel,
  sessions: readonly LoadSession[],
  call: LoadCall,
  requestId = call.requestId,
): Promise<AnswerLine> {
  const session = sessions[call.session];
  if (session === undefined) throw new RangeError(`there is no session ${call.session}`);
  const { tool, dedupeKey, put } = call;
  const { token } = session;
  try {
    const input = put === undefined ? call.input : { ...call.input, content_hash: await store(kernel, session, put) };
    const key = dedupeKey === undefined ? {} : { dedupeKey };
    return answerLine(await kernel.callInProcess({ token, tool, input, requestId, ...key }));
  } catch (fault) {
    // Storing rejects where a call is answered.
    if (!isKernelError(fault)) throw fault;
    return `error ${fault.code}`;
  }
}

/** The hash of what was stored. */
async function store(kernel: NarthexKernel, { id }: LoadSession, text: string): Promise<string> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  const { hash } = await kernel.putContent({ sessionId: id, door: "in_process", labels: [], chunks: chunks() });
  return toHex(hash);
}

function answerLine({ response, hash }: CallResult): AnswerLine {
  const { result } = response;
  switch (result.case) {
    case "success":
      return `success ${toHex(hash ?? new Uint8Array(0))} ${hashResponse(response)}`;
    case "error":
      return `error ${result.value.errorCode}`;
    case "denied":
      return `denied ${result.value.rationaleCode}`;
    default:
      return "no answer";
  }
}

/** Of the whole response: a repeat answers with the same one, except for saying that it is a repeat. */
function hashResponse(response: ToolResponse): string {
  const { result } = response;
  if (result.case !== "success") return "";
  const value = { ...result.value, repeatedAnswer: false };
  return toHex(blake3(encodeResponse({ ...response, result: { case: "success", value } })));
}
