export { createInference } from "./inference.ts";
export type { InferenceProvider, TokenPrice } from "./inference-provider.ts";
