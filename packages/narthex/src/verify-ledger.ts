import type { verifyLedger as verifyNow } from "@narthex/verify";

/** Reads a ledger back and reports whether it is sound. The verifier is loaded only then. */
export const verifyLedger: typeof verifyNow = async (...given) => {
  const { verifyLedger: verify } = await import("@narthex/verify");
  return await verify(...given);
};
