import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "WebAssembly tools: what metering costs, beside the same modules plain on V8",
  measurements: ["metered-kernels", "instrumenting", "small-tool", "cold-host"],
  packages: ["@cedar-policy/cedar-wasm", "@extism/extism"],
};
