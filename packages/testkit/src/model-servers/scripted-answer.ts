/** What a model answers, whoever serves it. */
export interface ScriptedAnswer {
  readonly model: string;
  /** One for each event that carries text. */
  readonly texts: readonly string[];
  /** In the provider's own word. */
  readonly stop: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}
