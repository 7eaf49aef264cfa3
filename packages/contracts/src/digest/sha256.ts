import { hash } from "node:crypto";

/** The 32-byte SHA-256 hash, used for the Merkle tree. The caller owns the array. */
export function sha256(bytes: Uint8Array): Uint8Array {
  return hash("sha256", bytes, "buffer");
}
