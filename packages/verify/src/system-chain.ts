/** The chain of everything that belongs to no session. */
export const SYSTEM_CHAIN = "system";
