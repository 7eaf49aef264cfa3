import { MAX_ID_LEN, MAX_TOKENS } from "@narthex/contracts";
import { defineTool, type Tool } from "@narthex/kernel";
import { contentHashSchema } from "../content-hash-schema.ts";
import { callModel } from "./call-model.ts";
import { costOf, type InferenceProvider } from "./inference-provider.ts";
import { STOP_REASONS } from "./model-format.ts";
import { validateProviders } from "./ready-providers.ts";
import { readPrompt } from "./read-prompt.ts";

const MAX_UINT32 = 4_294_967_295;
const TIMEOUT_MS = 600_000;
const MAX_NETWORK_BYTES = 1024 * 1024 * 1024;
/** A token has about four bytes in English, and about three in most other languages. */
const BYTES_PER_TOKEN = 3;

/**
 * Creates the tool that calls a model of a configured provider. Throws INVALID_DECLARATION for unusable providers.
 *
 * `max_tokens` and their cost are reserved before the call. The size of the prompts is known after they have been read: then one token for every three bytes is reserved, before anything is sent. The final charge is what the provider reports, even if it is more; it is the whole reservation if the provider reports nothing, or if the response is incomplete.
 */
export function createInference(providers: readonly InferenceProvider[]): Tool {
  const ready = validateProviders(providers);
  const providerOf = (name: string): InferenceProvider => {
    const provider = ready.get(name);
    if (provider === undefined) throw new TypeError(`no provider ${name}`); // INVARIANT: the schema lists them.
    return provider;
  };
  const tool = defineTool({
    name: "inference",
    description:
      "Asks a language model and answers its text, why it stopped, and what it cost. Prompts are stored content, named by " +
      "their hash.",
    source: "builtin",
    isolation: "http",
    inputSchema: {
      type: "object",
      properties: {
        provider: { type: "string", enum: [...ready.keys()], description: "Who is asked." },
        model: {
          type: "string",
          minLength: 1,
          maxLength: MAX_ID_LEN,
          description: "The provider's name of the model.",
        },
        prompt_hash: contentHashSchema("The prompt: stored UTF-8 text, by its hash."),
        system_prompt_hash: contentHashSchema("The system prompt, likewise."),
        max_tokens: { type: "integer", minimum: 1, maximum: MAX_TOKENS, description: "The longest answer." },
        temperature_scaled: {
          type: "integer",
          minimum: 0,
          maximum: MAX_UINT32,
          description: "A hundred times the temperature: 70 is 0.7.",
        },
      },
      required: ["provider", "model", "prompt_hash", "max_tokens", "temperature_scaled"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        text: { type: "string" },
        stop_reason: { type: "string", enum: STOP_REASONS },
        input_tokens: { type: "integer", minimum: 0 },
        output_tokens: { type: "integer", minimum: 0 },
        cost_units: { type: "integer", minimum: 0 },
        model: { type: "string", description: "As the provider named it; as asked for if it did not." },
        is_estimated: { type: "boolean", description: "The provider did not say how many tokens it used." },
      },
      required: ["text", "stop_reason", "input_tokens", "output_tokens", "cost_units", "model", "is_estimated"],
      additionalProperties: false,
    },
    resultType: "object",
    effects: ["inference"],
    determinism: "nondeterministic",
    tier: "side_effecting",
    capabilities: [{ kind: "inference", models: [] }],
    bounds: { timeoutMs: TIMEOUT_MS, maxNetworkRequests: 1, maxNetworkBytes: MAX_NETWORK_BYTES },
    // The cost depends on tokens.
    price: 0,
    labels: ["untrusted"],
    needs: ({ provider, model }) => [{ kind: "inference", models: [{ provider, model }] }],
    reserves: ({ provider, model, max_tokens }) => ({
      inference_tokens: max_tokens,
      cost_units: costOf(providerOf(provider), model, { inputTokens: 0, outputTokens: max_tokens }),
    }),
    async run(input, context) {
      const { model, max_tokens: maxTokens, prompt_hash, system_prompt_hash } = input;
      const provider = providerOf(input.provider);
      const prompt = await readPrompt(context.content, prompt_hash, "prompt_hash");
      const system =
        system_prompt_hash === undefined
          ? undefined
          : await readPrompt(context.content, system_prompt_hash, "system_prompt_hash");
      const expected = Math.ceil((prompt.bytes + (system?.bytes ?? 0)) / BYTES_PER_TOKEN);
      const cost = costOf(provider, model, { inputTokens: expected, outputTokens: 0 });
      context.spending.begin({ inference_tokens: expected, cost_units: cost });
      const question = {
        model,
        prompt: prompt.text,
        systemPrompt: system?.text,
        maxTokens,
        temperature: input.temperature_scaled / 100,
      };
      const answer = await callModel(provider, question, context);
      const use = answer.use ?? { inputTokens: expected, outputTokens: maxTokens };
      const cost_units = costOf(provider, model, use);
      context.spending.settle({ inference_tokens: use.inputTokens + use.outputTokens, cost_units });
      return {
        text: answer.text,
        stop_reason: answer.stopReason,
        input_tokens: use.inputTokens,
        output_tokens: use.outputTokens,
        cost_units,
        model: answer.model === "" ? model : answer.model,
        is_estimated: answer.use === undefined,
      };
    },
  });
  return { ...tool, endpoints: [...ready.values()].map(({ place }) => place) };
}
