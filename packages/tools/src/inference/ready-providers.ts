import { KernelError } from "@narthex/contracts";
import type { HostPattern } from "@narthex/kernel";
import { toHostPattern, readWebAddress } from "../web/web-address.ts";
import type { InferenceProvider, TokenPrice } from "./inference-provider.ts";

/** A validated provider. */
export interface ReadyProvider extends InferenceProvider {
  readonly place: HostPattern;
}

/** The providers by name. Throws INVALID_DECLARATION for one that cannot be called or has no valid price. */
export function validateProviders(providers: readonly InferenceProvider[]): ReadonlyMap<string, ReadyProvider> {
  const ready = new Map(providers.map((provider) => [provider.name, makeReady(provider)]));
  if (ready.size > 0 && ready.size === providers.length) return ready;
  throw invalid("inference needs a provider, and each under a name of its own");
}

function makeReady(provider: InferenceProvider): ReadyProvider {
  const { name, baseUrl, models = [], defaultPrice } = provider;
  const address = readWebAddress(baseUrl);
  if (typeof address === "string") throw invalid(`the address of the provider \`${name}\` ${address}`);
  if (address.url.includes("?")) throw invalid(`the address of the provider \`${name}\` must end with its path`);
  if (![defaultPrice, ...models].every(isPrice)) {
    throw invalid(`a price of the provider \`${name}\` is no number from 0 up`);
  }
  return { ...provider, baseUrl: address.url.replace(/\/+$/, ""), place: toHostPattern(address) };
}

/** SECURITY: a negative price would give budget back, and NaN would make every sum NaN. */
function isPrice({ inputPricePerMillion, outputPricePerMillion }: TokenPrice): boolean {
  return [inputPricePerMillion, outputPricePerMillion].every((price) => Number.isFinite(price) && price >= 0);
}

function invalid(message: string): KernelError {
  return new KernelError("INVALID_DECLARATION", message);
}
