import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "policy: one request evaluated, beside other engines with rules that say the same, and what it costs a call",
  measurements: ["evaluation", "many-rules", "whole-call"],
  packages: ["@cedar-policy/cedar-wasm", "casbin", "@casl/ability"],
};
