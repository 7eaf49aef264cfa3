import type * as CedarWasm from "@cedar-policy/cedar-wasm/nodejs";

export type Cedar = typeof CedarWasm;

let loading: Promise<Cedar> | undefined;

/** Loads Cedar, some megabytes of WebAssembly, at its first use. */
export function loadCedar(): Promise<Cedar> {
  loading ??= import("@cedar-policy/cedar-wasm/nodejs");
  return loading;
}
