import type * as CedarWasm from "@cedar-policy/cedar-wasm/nodejs";

export type Cedar = typeof CedarWasm;

let loading: Promise<Cedar> | undefined;

/** Cedar itself: some megabytes of WebAssembly, loaded by whoever first needs it. */
export function loadCedar(): Promise<Cedar> {
  loading ??= import("@cedar-policy/cedar-wasm/nodejs");
  return loading;
}
