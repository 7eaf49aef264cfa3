/** A configured provider of models. */
export interface InferenceProvider {
  /** The name that callers, capabilities and policies use. */
  readonly name: string;
  readonly format: "openai" | "anthropic" | "gemini";
  /**
   * In the form that the provider's own client expects: `https://api.openai.com/v1`, `https://api.anthropic.com`,
   * `https://generativelanguage.googleapis.com`.
   */
  readonly baseUrl: string;
  /** Name of the secret with the API key; without it, no key is sent. */
  readonly key?: string;
  readonly models?: readonly (TokenPrice & { readonly model: string })[];
  /** Price of models that are not listed. */
  readonly defaultPrice: TokenPrice;
  /**
   * Name of the token limit in OpenAI's format: newer models of OpenAI accept only the second name. `max_tokens` by
   * default.
   */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens";
}

/** Prices in cost units per million tokens. */
export interface TokenPrice {
  readonly inputPricePerMillion: number;
  readonly outputPricePerMillion: number;
}

export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

const MILLION = 1_000_000;

/** The cost in whole cost units, rounded up. */
export function costOf(provider: InferenceProvider, model: string, use: TokenUsage): number {
  const price = provider.models?.find((listed) => listed.model === model) ?? provider.defaultPrice;
  const millionths = use.inputTokens * price.inputPricePerMillion + use.outputTokens * price.outputPricePerMillion;
  // Rounded first, so that a floating-point error does not add a unit.
  return Math.min(Math.ceil(Math.round(millionths) / MILLION), Number.MAX_SAFE_INTEGER);
}
