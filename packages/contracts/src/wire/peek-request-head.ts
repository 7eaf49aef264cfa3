import { LENGTH_DELIMITED } from "./message-plan.ts";
import { WireProblem, WireReader } from "./wire-reader.ts";

export interface RequestHead {
  readonly requestId?: string;
  readonly sessionToken?: string;
}

const REQUEST_ID = 1;
const SESSION_TOKEN = 2;

/**
 * The id and the token of a request, as far as its first bytes hold them whole; undefined if these bytes begin
 * no request. Encoders write fields in order of number, so both stand before anything large.
 *
 * SECURITY: a door asks this before it takes the rest of a large frame. What is read here is read again by
 * `decode`, which refuses a request that gives either field twice.
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
    // The first bytes end within a field, or it announces more than a frame can hold: the rest is not looked at.
    if (!(error instanceof WireProblem)) throw error;
  }
  return head;
}
