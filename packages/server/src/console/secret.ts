import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits as text. */
export const SECRET_FORM = /^[A-Za-z0-9_-]{43}$/;

export function createSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Hashes a secret for storage. It is random enough that a plain hash cannot be reversed. */
export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/**
 * Finds the item that belongs to a secret.
 * SECURITY: hashes are compared, in constant time and against every item, so the response time reveals nothing about
 * them.
 */
export function findBySecret<T extends { readonly hash: Buffer }>(items: Iterable<T>, secret: string): T | undefined {
  const hash = hashSecret(secret);
  let found: T | undefined;
  for (const item of items) if (timingSafeEqual(item.hash, hash)) found = item;
  return found;
}
