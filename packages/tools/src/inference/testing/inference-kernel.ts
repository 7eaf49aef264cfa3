import { type JsonObject, toHex, utf8 } from "@narthex/contracts";
import type { Capability, NetworkAccess, OpenSessionOptions, Tool, ToolContext } from "@narthex/kernel";
import { createTestKernel, type ModelServer, type TestKernel, type TestSession } from "@narthex/testkit";
import { resultRead } from "../../content/index.ts";
import { createInference } from "../inference.ts";
import type { InferenceProvider } from "../inference-provider.ts";
import { fetchNetwork } from "./fetch-network.ts";

/** A secret that only the provider may see. */
export const SECRET = "sk-very-secret-4711";

const EVERY_MODEL: Capability = { kind: "inference", models: [{ provider: "*", model: "*" }] };

export const FORMATS = ["openai", "anthropic", "gemini"] as const;

/** A kernel with the tool, a session, and a stored prompt. */
export interface InferenceKernel extends TestKernel {
  readonly session: TestSession;
  put(text: string | Uint8Array): Promise<string>;
  ask(input?: JsonObject): ReturnType<TestSession["call"]>;
  left(): Promise<{ readonly tokens: number | undefined; readonly cost: number | undefined }>;
}

/**
 * One provider per format, all at this server. One million input tokens cost 2 million units, output tokens 10 million;
 * the model `cheap` is free.
 */
export function providersAt({ url }: Pick<ModelServer, "url">): InferenceProvider[] {
  const free = { model: "cheap", inputPricePerMillion: 0, outputPricePerMillion: 0 };
  const defaultPrice = { inputPricePerMillion: 2_000_000, outputPricePerMillion: 10_000_000 };
  return FORMATS.map((format) => ({
    name: format,
    format,
    baseUrl: format === "openai" ? `${url}/v1` : url,
    key: "model-key",
    models: [free],
    defaultPrice,
  }));
}

/** The tool with network access as the host would provide it, but directly to the server. */
export function toolAt(providers: readonly InferenceProvider[], network?: NetworkAccess): Tool {
  const tool = createInference(providers);
  const access = network ?? fetchNetwork({ "model-key": SECRET });
  return {
    ...tool,
    run: (input, context) => tool.run(input, withNetwork(context, access)),
  };
}

/** A proxy, because a context's ports are bound getters on its prototype. */
function withNetwork(context: ToolContext, network: NetworkAccess): ToolContext {
  return new Proxy(context, {
    get: (target, name) => (name === "network" ? network : (Reflect.get(target, name, target) as unknown)),
  });
}

export async function openInference(tool: Tool, lease: OpenSessionOptions["lease"] = {}): Promise<InferenceKernel> {
  const at = await createTestKernel({ tools: [tool, resultRead] });
  const session = await at.open({ lease: { capabilities: [EVERY_MODEL], ...lease } });
  const put = async (text: string | Uint8Array): Promise<string> => {
    const chunks = (async function* () {
      yield typeof text === "string" ? utf8(text) : text;
    })();
    const { hash } = await at.kernel.putContent({ sessionId: session.id, door: "test", labels: [], chunks });
    return toHex(hash);
  };
  const prompt_hash = await put("What is the capital of France?");
  const usual = { provider: "openai", model: "m-1", prompt_hash, max_tokens: 100, temperature_scaled: 70 };
  return {
    ...at,
    session,
    put,
    ask: (input = {}) => session.call("inference", { ...usual, ...input }),
    async left() {
      const remaining = (await at.kernel.getSession(session.id))?.budgetRemaining;
      return { tokens: remaining?.inference_tokens, cost: remaining?.cost_units };
    },
  };
}
