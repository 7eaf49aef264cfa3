import { isKernelError, utf8 } from "@narthex/contracts";
import type { IncomingResponse, ToolContext } from "@narthex/kernel";
import { anthropicFormat } from "./anthropic-format.ts";
import { geminiFormat } from "./gemini-format.ts";
import type { InferenceProvider } from "./inference-provider.ts";
import { type ModelFormat, type InferenceRequest, StreamedError } from "./model-format.ts";
import { openaiFormat } from "./openai-format.ts";
import { providerFault } from "./provider-fault.ts";
import { maxStreamBytes, type InferenceResponse, readInferenceResponse } from "./read-inference-response.ts";

type AskingContext = Pick<ToolContext, "network" | "spending" | "nowMs">;

const FORMATS: Readonly<Record<InferenceProvider["format"], ModelFormat>> = {
  openai: openaiFormat,
  anthropic: anthropicFormat,
  gemini: geminiFormat,
};
const MAX_REFUSAL_BYTES = 64 * 1024;
const NOTHING = {};
/** Errors of the network layer that mean nothing has been sent. */
const NOT_SENT: ReadonlySet<string> = new Set(["NETWORK_BLOCKED", "UNDECLARED_EFFECT", "SANDBOX_UNAVAILABLE"]);

/**
 * Sends one model request and returns the whole response. Throws UPSTREAM_ERROR, RATE_LIMITED, or an error of the
 * network layer.
 */
export async function callModel(
  provider: InferenceProvider,
  question: InferenceRequest,
  context: AskingContext,
): Promise<InferenceResponse> {
  const format = FORMATS[provider.format];
  const response = await send(provider, format, question, context);
  if (response.status !== 200) {
    const body = parseBody(await readHead(response.body));
    // A refused request costs nothing.
    context.spending.settle(NOTHING);
    throw providerFault(provider, { status: response.status, headers: response.headers, body }, context.nowMs());
  }
  try {
    return await readInferenceResponse(response.body, format, question.maxTokens);
  } catch (fault) {
    if (!(fault instanceof StreamedError)) throw fault;
    throw providerFault(provider, { headers: response.headers, body: fault.body }, context.nowMs());
  }
}

/** Some models think for minutes before the first output. */
const THINKING_MS = 300_000;

async function send(
  provider: InferenceProvider,
  format: ModelFormat,
  question: InferenceRequest,
  { network, spending }: AskingContext,
): Promise<IncomingResponse> {
  try {
    return await network.request({
      method: "POST",
      url: `${provider.baseUrl}${format.path(question)}`,
      headers: [["content-type", "application/json"], ["accept", "text/event-stream"], ...format.headers(provider)],
      body: utf8(JSON.stringify(format.body(question, provider))),
      // SECURITY: the key and the prompt are sent only to the configured server, never to the target of a redirect.
      redirect: "return",
      maxBodyBytes: maxStreamBytes(question.maxTokens),
      silenceMs: THINKING_MS,
    });
  } catch (fault) {
    if (isKernelError(fault) && NOT_SENT.has(fault.code)) spending.settle(NOTHING);
    throw fault;
  }
}

async function readHead(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    text += decoder.decode(chunk, { stream: true });
    if (size > MAX_REFUSAL_BYTES) break;
  }
  return text;
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
