import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { answerAside, answerUnknown, MODEL_PROTOCOLS, type ModelProtocol } from "./model-protocols.ts";
import type { ScriptedResponse, ScriptedCall } from "./scripted-response.ts";
import type { ModelRequest } from "./model-request.ts";
import { type ModelReply, type ModelServer, startModelServer } from "./start-model-server.ts";

/**
 * One turn of a scripted model: a call with the tool name that the client declares, or text that ends the conversation.
 */
export type ModelStep = Omit<ScriptedCall, "id"> | { readonly say: string };

/**
 * Returns the turn that follows `seen`. Its number is that of the calls made so far, so that a repeated request gets
 * the same response.
 */
export type ModelScript = (seen: ModelRequest) => ModelStep | Promise<ModelStep>;

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** Requests of the conversation, in order. */
  readonly turns: readonly ModelRequest[];
  /** Every request, including those for titles, token counts and lists of models. */
  readonly requests: ModelServer["requests"];
}

const TOKENS = { inputTokens: 100, outputTokens: 10 };

/**
 * Starts a model that follows a script, behind the APIs of Anthropic (messages), OpenAI (chat completions, responses)
 * and Gemini. Requests without tools are not part of the conversation (clients request titles and summaries): they get
 * a short text.
 */
export async function startScriptedModel(script: ModelScript): Promise<ScriptedModel> {
  const turns: ModelRequest[] = [];
  const server = await startModelServer(async ({ method, path, body }) => {
    const [bare = ""] = path.split("?");
    const protocol = MODEL_PROTOCOLS.find(({ owns }) => owns(bare));
    if (method !== "POST" || protocol === undefined || !isJsonObject(body)) {
      return answerAside(method, bare) ?? answerUnknown(bare);
    }
    const seen = protocol.read(body);
    if (seen.tools.length === 0) return reply(protocol, bare, body, { say: "Scripted" });
    turns.push(seen);
    return reply(protocol, bare, body, await script(seen), `call_${seen.calls.length + 1}`);
  });
  return {
    url: server.url,
    turns,
    requests: server.requests,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function reply(protocol: ModelProtocol, path: string, body: JsonObject, step: ModelStep, id = ""): ModelReply {
  const { stops } = protocol;
  const model = modelName(path, body["model"]);
  const answer: ScriptedResponse =
    "say" in step
      ? { model, ...TOKENS, texts: [step.say], stop: stops.text }
      : { model, ...TOKENS, texts: [], calls: [{ id, ...step }], stop: stops.calls };
  if (protocol.isStreaming(path, body)) return { body: protocol.stream(answer) };
  return { headers: { "content-type": "application/json" }, body: protocol.whole(answer) };
}

/** Gemini's requests name the model in the path. */
function modelName(path: string, model: JsonValue | undefined): string {
  return typeof model === "string" ? model : (/models\/([^:/]+)/.exec(path)?.[1] ?? "scripted");
}
