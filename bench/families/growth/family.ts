import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "the same calls on an empty ledger and on one of a million records",
  measurements: ["cost-of-a-long-ledger"],
  packages: [],
};
