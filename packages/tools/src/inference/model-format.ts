import type { JsonObject } from "@narthex/contracts";
import type { OutgoingRequest } from "@narthex/kernel";
import type { InferenceProvider, TokenUsage } from "./inference-provider.ts";

/** Why a model stopped, in one vocabulary. `max_tokens` also where its context was full. */
export const STOP_REASONS = ["end", "max_tokens", "stop_sequence", "tool_use", "refusal", "other"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** A provider's own words for them. */
export type ProviderStopReasons = ReadonlyMap<string, StopReason>;

export function stopReasonOf(words: ProviderStopReasons, word: string | undefined): StopReason | undefined {
  return word === undefined ? undefined : (words.get(word) ?? "other");
}

export interface InferenceRequest {
  readonly model: string;
  readonly prompt: string;
  readonly systemPrompt: string | undefined;
  readonly maxTokens: number;
  readonly temperature: number;
}

/** What one event of a stream adds to the answer. */
export interface ResponsePart extends Partial<{ readonly [K in keyof TokenUsage]: number | undefined }> {
  readonly text?: string | undefined;
  /** As the provider names it. */
  readonly model?: string | undefined;
  readonly stopReason?: StopReason | undefined;
  /** Nothing more will come. */
  readonly isEnd?: boolean;
}

/** How one kind of provider is asked, and how its streams are read. */
export interface ModelFormat {
  /** Below the base URL, with `/` at its beginning. */
  path(question: InferenceRequest): string;
  headers(provider: InferenceProvider): NonNullable<OutgoingRequest["headers"]>;
  body(question: InferenceRequest, provider: InferenceProvider): JsonObject;
  /** Reads the data of one event. Throws what `StreamedError` makes of an error inside the stream. */
  read(data: string): ResponsePart;
  /** The stream says itself that it is over; else that is where it ends. */
  readonly hasEndMark: boolean;
}

/** The provider said in its stream that it failed. */
export class StreamedError extends Error {
  readonly body: unknown;

  constructor(body: unknown) {
    super("an error inside the stream");
    this.body = body;
  }
}
