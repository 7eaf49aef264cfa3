import { equalBytes, hashToken, MAX_ID_LEN } from "@narthex/contracts";
import type { Session } from "./session.ts";

/**
 * Whether a token is this session's.
 *
 * SECURITY: only hashes are compared, in constant time; a text longer than any token is not even hashed.
 */
export function verifySessionToken(token: string, session: Session): boolean {
  return token.length > 0 && token.length <= MAX_ID_LEN && equalBytes(hashToken(token), session.tokenHash);
}
