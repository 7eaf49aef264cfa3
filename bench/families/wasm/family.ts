import type { Family } from "../../frame/measurement.ts";

export const family: Family = {
  title: "WebAssembly tools: what metering costs, beside the same modules plain on V8",
  measurements: ["metered-kernels", "instrumenting"],
  packages: ["@cedar-policy/cedar-wasm"],
};
