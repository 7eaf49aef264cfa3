import type { JsonObject } from "@narthex/contracts";

/** A model's answer, whichever provider streams it. */
export interface ScriptedResponse {
  readonly model: string;
  /** One for each event that carries text. */
  readonly texts: readonly string[];
  /** Tool calls, after the text. */
  readonly calls?: readonly ScriptedCall[];
  /** In the provider's own word. */
  readonly stop: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  /** Of the Responses API: the group of tools that declares the name. */
  readonly namespace?: string;
  readonly input: JsonObject;
}
