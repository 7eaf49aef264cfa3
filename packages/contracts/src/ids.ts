import { KernelError } from "./kernel-error.ts";

export type IdPrefix = "ses" | "lea" | "apr" | "req" | "log";
/** Returns unpredictable bytes. */
export type RandomBytes = (length: number) => Uint8Array;

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
const ID_CHARACTERS = 20;
const ID_BYTES = 13;
const SECRET_BYTES = 32;
const TOKEN = /^ntx_(ses_[a-z2-7]{20})_[A-Za-z0-9_-]{43}$/;

/** Creates an id: a prefix and 100 random bits. */
export function createId(prefix: IdPrefix, random: RandomBytes): string {
  const bytes = draw(random, ID_BYTES);
  let id = `${prefix}_`;
  let bits = 0;
  let held = 0;
  let next = 0;
  for (let i = 0; i < ID_CHARACTERS; i++) {
    if (held < 5) {
      bits = ((bits & 31) << 8) | (bytes[next++] ?? 0);
      held += 8;
    }
    held -= 5;
    id += ALPHABET[(bits >>> held) & 31];
  }
  return id;
}

/** Creates a session's secret: the session id, by which the session is found, and 256 random bits. */
export function createToken(sessionId: string, random: RandomBytes): string {
  return `ntx_${sessionId}_${Buffer.from(draw(random, SECRET_BYTES)).toString("base64url")}`;
}

/**
 * Extracts the session id from a token. Undefined if the text does not have the form of a token. Does not check that
 * the token is valid.
 */
export function parseToken(text: string): { readonly sessionId: string } | undefined {
  const sessionId = TOKEN.exec(text)?.[1];
  return sessionId === undefined ? undefined : { sessionId };
}

function draw(random: RandomBytes, length: number): Uint8Array {
  const bytes = random(length);
  // SECURITY: too few bytes would silently make ids and tokens guessable.
  if (bytes.length !== length)
    throw new KernelError("INTERNAL", `the random source gave ${bytes.length} bytes, not ${length}`);
  return bytes;
}
