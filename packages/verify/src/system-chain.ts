/** The chain of everything that is no session's. */
export const SYSTEM_CHAIN = "system";
