import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "a typical call's record to bytes",
  measurements: ["record-encoding"],
  packages: ["@bufbuild/protobuf"],
};
