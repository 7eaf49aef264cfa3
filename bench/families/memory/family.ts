import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "resident memory after garbage was collected, with everything on",
  measurements: ["memory-of-calls", "memory-of-content", "memory-of-sessions"],
  packages: [],
};
