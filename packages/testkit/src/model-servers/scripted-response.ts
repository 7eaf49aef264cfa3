import type { JsonObject } from "@narthex/contracts";

/** A model's response, independent of the provider that streams it. */
export interface ScriptedResponse {
  readonly model: string;
  /** One for each event with text. */
  readonly texts: readonly string[];
  /** Tool calls, after the text. */
  readonly calls?: readonly ScriptedCall[];
  /** The stop reason in the provider's own vocabulary. */
  readonly stop: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  /** For the Responses API: the group of tools that declares the name. */
  readonly namespace?: string;
  readonly input: JsonObject;
}
