import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { sha256, toHex, utf8 } from "@narthex/contracts";
import { decodeBase64 } from "./strict-base64.ts";

/** SPEC: docs/formats/log.md, "Keys". */
export interface VerifierKey {
  /** The origin of the Merkle tree that the key signs. */
  readonly name: string;
  /** 8 hex digits. */
  readonly id: string;
  /** The verifier key in the form in which it is published. */
  readonly text: string;
  readonly publicKey: KeyObject;
}

const ED25519 = 0x01;
const PUBLIC_KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const MAX_TEXT = 512;
/** Prefix of the 32 bytes of an Ed25519 key in its SubjectPublicKeyInfo. */
const KEY_INFO_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** Parses a verifier key; undefined unless it is the canonical text of an Ed25519 key. */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  if (text.length > MAX_TEXT) return undefined;
  const [, name = "", id = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+([^+].*)$/u.exec(text) ?? [];
  const typed = decodeBase64(encoded);
  if (!isKeyName(name) || typed?.length !== 1 + PUBLIC_KEY_BYTES || typed[0] !== ED25519) return undefined;
  if (toHex(sha256(Buffer.concat([utf8(`${name}\n`), typed])).subarray(0, 4)) !== id) return undefined;
  try {
    const info = Buffer.concat([KEY_INFO_HEAD, typed.subarray(1)]);
    return { name, id, text, publicKey: createPublicKey({ key: info, format: "der", type: "spki" }) };
  } catch {
    return undefined;
  }
}

export function isKeyName(text: string): boolean {
  return text !== "" && !/[\s\p{Cc}+]/u.test(text);
}

export function isSigned(key: VerifierKey, text: string, signature: Uint8Array): boolean {
  if (signature.length !== SIGNATURE_BYTES) return false;
  try {
    return verify(null, utf8(text), key.publicKey, signature);
  } catch {
    return false;
  }
}
