import type { Family } from "../../frame/measurement.ts";

export const family: Family = {
  title: "a typical call's record to bytes",
  measurements: ["record-encoding"],
  packages: ["@bufbuild/protobuf"],
};
