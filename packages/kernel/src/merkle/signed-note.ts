import { decodeBase64, encodeBase64 } from "./strict-base64.ts";
import { isKeyName, KEY_ID_BYTES } from "./verifier-key.ts";

/** SPEC: C2SP signed-note. A text with its signatures. */
export interface SignedNote {
  /** The signed text; ends with a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteSignature {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

const DASH = "—";
const MAX_SIGNATURES = 16;
/** Far larger than any note that is signed here. */
const MAX_NOTE_CHARACTERS = 16 * 1024;

export function encodeNote({ text, signatures }: SignedNote): string {
  const lines = signatures.map(
    ({ name, keyId, signature }) => `${DASH} ${name} ${encodeBase64(Uint8Array.of(...keyId, ...signature))}\n`,
  );
  return `${text}\n${lines.join("")}`;
}

/** Parses a signed note; undefined if it is invalid. Does not verify any signature. */
export function parseNote(note: string): SignedNote | undefined {
  if (note.length > MAX_NOTE_CHARACTERS || !note.isWellFormed() || /(?!\n)\p{Cc}/u.test(note)) return undefined;
  const end = note.lastIndexOf("\n\n");
  if (end <= 0 || !note.endsWith("\n")) return undefined;
  const lines = note
    .slice(end + 2)
    .split("\n")
    .slice(0, -1);
  if (lines.length === 0 || lines.length > MAX_SIGNATURES) return undefined;
  const signatures: NoteSignature[] = [];
  for (const line of lines) {
    const signature = parseSignature(line);
    if (signature === undefined) return undefined;
    signatures.push(signature);
  }
  return { text: note.slice(0, end + 1), signatures };
}

function parseSignature(line: string): NoteSignature | undefined {
  const [dash, name = "", encoded = "", ...more] = line.split(" ");
  const bytes = decodeBase64(encoded);
  if (dash !== DASH || more.length > 0 || !isKeyName(name) || bytes === undefined) return undefined;
  if (bytes.length <= KEY_ID_BYTES) return undefined;
  return { name, keyId: bytes.slice(0, KEY_ID_BYTES), signature: bytes.slice(KEY_ID_BYTES) };
}
