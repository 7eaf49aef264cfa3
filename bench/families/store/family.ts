import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "records into the store, which writes in a thread of its own, beside SQLite on the main thread",
  measurements: ["appends"],
  packages: [],
};
