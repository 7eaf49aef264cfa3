import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "the ledger signed and proven: the Merkle log beside the chains, and proofs from its tiles",
  measurements: ["appending-with-log", "inclusion-proofs", "verify-rates", "replay"],
  packages: [],
};
