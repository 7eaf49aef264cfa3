import { blake3, create, encodeResponse, ToolRequestSchema, type ToolResponse, toHex } from "@narthex/contracts";
import { isKernelError } from "narthex";
import type { SocketKernel } from "../../doors/socket-kernel.ts";
import { callFramed } from "./call-framed.ts";
import type { LoadCall } from "./load-call.ts";

/** A session, as anyone who calls through it needs to know it. */
export interface LoadSession {
  readonly id: string;
  readonly token: string;
}

/** How a call was answered, in one line: `success`, result hash and response hash, or what else and its code. */
export type AnswerLine = string;

/** Makes a planned call through the framed socket, storing first the content that it publishes. */
export async function makeCall(
  kernel: SocketKernel,
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
    const value = { name: tool, input: Buffer.from(JSON.stringify(input)) };
    const key = dedupeKey === undefined ? {} : { dedupeKey };
    const request = create(ToolRequestSchema, {
      requestId,
      sessionToken: token,
      ...key,
      tool: { case: "call", value },
    });
    return answerLine(await callFramed(kernel, request));
  } catch (fault) {
    // Storing rejects where a call is answered; so does a call whose connection ends.
    if (!isKernelError(fault)) throw fault;
    return `error ${fault.code}`;
  }
}

/** The hash of what was stored. */
async function store(kernel: SocketKernel, { id }: LoadSession, text: string): Promise<string> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
  }
  const { hash } = await kernel.putContent({ sessionId: id, door: "in_process", labels: [], chunks: chunks() });
  return toHex(hash);
}

function answerLine(response: ToolResponse): AnswerLine {
  const { result } = response;
  switch (result.case) {
    case "success":
      return `success ${toHex(result.value.resultHash)} ${hashResponse(response)}`;
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
