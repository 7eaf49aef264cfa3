import type { JsonObject } from "@narthex/contracts";
import type { OutgoingRequest } from "@narthex/kernel";
import type { InferenceProvider, TokenUsage } from "./inference-provider.ts";

/** Normalized reasons why a model stopped. `max_tokens` also means that the context was full. */
export const STOP_REASONS = ["end", "max_tokens", "stop_sequence", "tool_use", "refusal", "other"] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Maps a provider's own stop reasons to the normalized ones. */
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

/** The part of a response that one event of a stream contains. */
export interface ResponsePart extends Partial<{ readonly [K in keyof TokenUsage]: number | undefined }> {
  readonly text?: string | undefined;
  /** The name that the provider reports. */
  readonly model?: string | undefined;
  readonly stopReason?: StopReason | undefined;
  /** No more events follow. */
  readonly isEnd?: boolean;
}

/** How requests to one kind of provider are built, and how its streams are parsed. */
export interface ModelFormat {
  /** Path below the base URL, starting with `/`. */
  path(question: InferenceRequest): string;
  headers(provider: InferenceProvider): NonNullable<OutgoingRequest["headers"]>;
  body(question: InferenceRequest, provider: InferenceProvider): JsonObject;
  /** Parses the data of one event. Throws a `StreamedError` for an error inside the stream. */
  read(data: string): ResponsePart;
  /** Whether the stream has an explicit end mark; otherwise it ends with its last byte. */
  readonly hasEndMark: boolean;
}

/** An error that the provider reported inside its stream. */
export class StreamedError extends Error {
  readonly body: unknown;

  constructor(body: unknown) {
    super("an error inside the stream");
    this.body = body;
  }
}
