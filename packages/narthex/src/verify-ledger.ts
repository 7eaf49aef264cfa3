import type { verifyLedger as verifyNow } from "@narthex/verify";

/** Reads a ledger back and says whether it is sound. What that needs is loaded only then. */
export const verifyLedger: typeof verifyNow = async (...given) => {
  const { verifyLedger: verify } = await import("@narthex/verify");
  return await verify(...given);
};
