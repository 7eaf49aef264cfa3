import type { Family } from "../../frame/measurement.ts";

export const family: Family = {
  title: "the ledger signed and proven: the Merkle log beside the chains, and proofs from its tiles",
  measurements: ["appending-with-log", "inclusion-proofs", "verify-rates", "replay"],
  packages: [],
};
