import type { Configuration } from "@narthex/host";
import type { Tool } from "@narthex/kernel";
import { builtinTools } from "@narthex/tools";

/** Creates the built-in tools, with the network providers that the configuration names. */
export function createConfiguredBuiltins({
  webSearch,
  inference,
}: Pick<Configuration, "webSearch" | "inference">): Tool[] {
  return builtinTools({
    search: webSearch.map(({ name, kind, url, secret }) => ({
      name,
      kind,
      baseUrl: url,
      ...(secret !== undefined && { key: secret }),
    })),
    inference: inference.map(({ name, format, url, secret, price, models, maxTokensField }) => ({
      name,
      format,
      baseUrl: url,
      ...(secret !== undefined && { key: secret }),
      defaultPrice: { inputPricePerMillion: price.input, outputPricePerMillion: price.output },
      models: [...models].map(([model, { input, output }]) => ({
        model,
        inputPricePerMillion: input,
        outputPricePerMillion: output,
      })),
      ...(maxTokensField !== undefined && { maxTokensField }),
    })),
  });
}
