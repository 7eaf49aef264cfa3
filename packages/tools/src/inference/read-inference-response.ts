import { KernelError, MAX_ID_LEN } from "@narthex/contracts";
import { EventReader } from "./event-reader.ts";
import type { TokenUsage } from "./inference-provider.ts";
import { type ResponsePart, type ModelFormat, type StopReason, StreamedError } from "./model-format.ts";

export interface InferenceResponse {
  readonly text: string;
  readonly stopReason: StopReason;
  /** Empty if the provider did not report it. */
  readonly model: string;
  /** Undefined if the provider did not report it. */
  readonly use: TokenUsage | undefined;
}

const KB = 1024;
const MB = 1024 * KB;
/** Allowance for the overhead of events: names, ids, probabilities, padding. */
const BASE_BYTES = MB;
const BYTES_PER_TOKEN = 4 * KB;
/** The longest tokens of today's models are runs of 128 spaces. */
const BASE_CHARACTERS = 4 * KB;
const CHARACTERS_PER_TOKEN = 256;
const MAX_TEXT_CHARACTERS = 16 * MB;
/** More than any model can process. A provider that reports more has not counted. */
const MAX_TOKENS_USED = 1_000_000_000;

/** Maximum number of bytes for a response with this many tokens. */
export function maxStreamBytes(maxTokens: number): number {
  return BASE_BYTES + maxTokens * BYTES_PER_TOKEN;
}

/**
 * Assembles a streamed response. Throws UPSTREAM_ERROR for an incomplete response, and `StreamedError` if the provider
 * reported an error itself.
 *
 * SECURITY: the stream is abandoned once it exceeds the size that this many tokens can have, so that a server cannot
 * send forever.
 */
export async function readInferenceResponse(
  body: AsyncIterable<Uint8Array>,
  format: ModelFormat,
  maxTokens: number,
): Promise<InferenceResponse> {
  const events = new EventReader();
  const answer = new ResponseBuilder(Math.min(BASE_CHARACTERS + maxTokens * CHARACTERS_PER_TOKEN, MAX_TEXT_CHARACTERS));
  let bytesLeft = maxStreamBytes(maxTokens);
  for await (const chunk of body) {
    bytesLeft -= chunk.length;
    if (bytesLeft < 0) throw tooLong(maxTokens);
    if (answer.add(events.push(chunk), format)) return answer.finish();
  }
  const isEnded = answer.add(events.end(), format);
  if ((!isEnded && format.hasEndMark) || !answer.isStopped) throw endedEarly(events.stray);
  return answer.finish();
}

class ResponseBuilder {
  readonly #maxCharacters: number;
  readonly #texts: string[] = [];
  #characters = 0;
  #model = "";
  #stopReason: StopReason | undefined;
  #inputTokens: number | undefined;
  #outputTokens: number | undefined;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get isStopped(): boolean {
    return this.#stopReason !== undefined;
  }

  /** Adds events. Returns whether the response is complete. */
  add(events: readonly string[], format: ModelFormat): boolean {
    for (const data of events) {
      const part = format.read(data);
      this.#addPart(part);
      if (part.isEnd === true) return true;
    }
    return false;
  }

  finish(): InferenceResponse {
    if (this.#stopReason === undefined) throw endedEarly("");
    return {
      text: this.#texts.join("").toWellFormed(),
      stopReason: this.#stopReason,
      model: this.#model.slice(0, MAX_ID_LEN).toWellFormed(),
      use: this.#use(),
    };
  }

  #use(): TokenUsage | undefined {
    const inputTokens = this.#inputTokens ?? Number.POSITIVE_INFINITY;
    const outputTokens = this.#outputTokens ?? Number.POSITIVE_INFINITY;
    return Math.max(inputTokens, outputTokens) > MAX_TOKENS_USED ? undefined : { inputTokens, outputTokens };
  }

  #addPart({ text = "", model, stopReason, inputTokens, outputTokens }: ResponsePart): void {
    this.#characters += text.length;
    if (this.#characters > this.#maxCharacters) {
      throw new KernelError("UPSTREAM_ERROR", "the provider sent more text than the tokens it was asked for can hold");
    }
    if (text !== "") this.#texts.push(text);
    this.#model = model ?? this.#model;
    // A refusal stays a refusal, whatever events follow.
    if (this.#stopReason !== "refusal") this.#stopReason = stopReason ?? this.#stopReason;
    this.#inputTokens = inputTokens ?? this.#inputTokens;
    this.#outputTokens = outputTokens ?? this.#outputTokens;
  }
}

function tooLong(maxTokens: number): KernelError {
  return new KernelError("UPSTREAM_ERROR", `the provider sent more than an answer of ${maxTokens} tokens can take`);
}

/** SECURITY: a partial response must not pass for a complete one. */
function endedEarly(stray: string): Error {
  const body = parseStray(stray);
  if (body !== undefined) return new StreamedError(body);
  return new KernelError("UPSTREAM_ERROR", "the provider's stream ended before the answer did: ask again");
}

/** Parses a plain body that arrived instead of events, if it looks like an error. */
function parseStray(stray: string): unknown {
  try {
    return stray.includes("error") ? JSON.parse(stray) : undefined;
  } catch {
    return undefined;
  }
}
