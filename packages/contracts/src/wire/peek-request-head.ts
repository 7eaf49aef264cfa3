import { LENGTH_DELIMITED } from "./message-plan.ts";
import { WireProblem, WireReader } from "./wire-reader.ts";

export interface RequestHead {
  readonly requestId?: string;
  readonly sessionToken?: string;
}

const REQUEST_ID = 1;
const SESSION_TOKEN = 2;

/**
 * Reads the id and the token of a request if its first bytes contain them completely; undefined if these bytes do not
 * begin a request. Encoders write fields in order of number, so both come before anything large.
 *
 * SECURITY: a door calls this before it accepts the rest of a large frame. `decode` later reads the same fields again
 * and rejects a request that contains either one twice.
 */
export function peekRequestHead(firstBytes: Uint8Array): RequestHead | undefined {
  const reader = new WireReader(firstBytes);
  const head: { requestId?: string; sessionToken?: string } = {};
  const end = firstBytes.length;
  try {
    while (reader.pos < end && (head.requestId === undefined || head.sessionToken === undefined)) {
      const tag = reader.tag(end);
      const number = tag >>> 3;
      if ((tag & 7) !== LENGTH_DELIMITED) return undefined;
      const fieldEnd = reader.lengthDelimited(end);
      if (number !== REQUEST_ID && number !== SESSION_TOKEN) {
        reader.pos = fieldEnd;
        continue;
      }
      const text = reader.text(fieldEnd);
      if (text === undefined) return undefined;
      if (number === REQUEST_ID) head.requestId = text;
      else head.sessionToken = text;
    }
  } catch (error) {
    // The first bytes end within a field, or state a length that no frame can have; the rest is not read.
    if (!(error instanceof WireProblem)) throw error;
  }
  return head;
}
