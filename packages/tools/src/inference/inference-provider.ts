/** Where models are asked, as the configuration names it. */
export interface InferenceProvider {
  /** What callers, capabilities and policies call it. */
  readonly name: string;
  readonly format: "openai" | "anthropic" | "gemini";
  /**
   * As the provider's own client takes it: `https://api.openai.com/v1`, `https://api.anthropic.com`,
   * `https://generativelanguage.googleapis.com`.
   */
  readonly baseUrl: string;
  /** The name of the secret that is its key; none is sent without. */
  readonly key?: string;
  readonly models?: readonly (TokenPrice & { readonly model: string })[];
  /** Of models that are not listed. */
  readonly defaultPrice: TokenPrice;
  /** What OpenAI's format calls the bound: newer models of OpenAI take the second name only. `max_tokens` by default. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
}

/** In cost units for a million tokens. */
export interface TokenPrice {
  readonly inputPricePerMillion: number;
  readonly outputPricePerMillion: number;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const MILLION = 1_000_000;

/** In whole cost units: a part of one is one. */
export function costOf(provider: InferenceProvider, model: string, use: TokenUsage): number {
  const price = provider.models?.find((listed) => listed.model === model) ?? provider.defaultPrice;
  const millionths = use.inputTokens * price.inputPricePerMillion + use.outputTokens * price.outputPricePerMillion;
  // Rounded first, so that what a fraction of a price cannot express does not become a unit.
  return Math.min(Math.ceil(Math.round(millionths) / MILLION), Number.MAX_SAFE_INTEGER);
}
