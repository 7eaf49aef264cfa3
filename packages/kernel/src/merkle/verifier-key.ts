import { sha256, toHex, utf8 } from "@narthex/contracts";
import { decodeBase64, encodeBase64 } from "./strict-base64.ts";

/** SPEC: docs/formats/log.md, "Keys"; C2SP signed-note, signature type 0x01. */
const ED25519 = 0x01;
const PUBLIC_KEY_BYTES = 32;
export const KEY_ID_BYTES = 4;

/** A public key with the name that it signs under. */
export interface VerifierKey {
  readonly name: string;
  readonly id: Uint8Array;
  readonly publicKey: Uint8Array;
  /** The complete key in its text form. */
  readonly text: string;
}

export function createVerifierKey(name: string, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name) || publicKey.length !== PUBLIC_KEY_BYTES) throw new TypeError("this is no name or no key");
  const typed = Uint8Array.of(ED25519, ...publicKey);
  const id = sha256(Uint8Array.of(...utf8(name), 0x0a, ...typed)).slice(0, KEY_ID_BYTES);
  return { name, id, publicKey, text: `${name}+${toHex(id)}+${encodeBase64(typed)}` };
}

/** Parses the text form of an Ed25519 key; undefined for any other text. */
export function parseVerifierKey(text: string): VerifierKey | undefined {
  const [, name = "", id = "", encoded = ""] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const typed = decodeBase64(encoded);
  if (!isKeyName(name) || typed?.length !== 1 + PUBLIC_KEY_BYTES || typed[0] !== ED25519) return undefined;
  const key = createVerifierKey(name, typed.slice(1));
  return toHex(key.id) === id ? key : undefined;
}

export function isKeyName(text: string): boolean {
  return text !== "" && !/[\s\p{Cc}+]/u.test(text);
}
