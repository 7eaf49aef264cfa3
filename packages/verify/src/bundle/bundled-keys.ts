import { type NoteSignature, parseSignature } from "../merkle/checkpoint.ts";
import type { AnnouncedKey } from "../merkle/key-history.ts";
import { isSigned, type VerifierKey, parseVerifierKey } from "../merkle/verifier-key.ts";

/** The keys of a Merkle tree, each handed over from the one before by an announcement in the bundle. */
export interface BundledKeys {
  /**
   * `recordIndex` is the size of the last checkpoint before the announcement: the bundle does not contain a more exact position.
   */
  readonly keys: readonly AnnouncedKey[];
  /** What is wrong with the first invalid announcement; empty if all are valid. */
  readonly problem: string;
}

const HEAD = "narthex/log-key/v1";
const MAX_SIGNATURES = 16;

/** SPEC: docs/formats/log.md, "Announcements". Each one except the first must also be signed by the previous key. */
export function readBundledKeys(notes: readonly string[]): BundledKeys {
  const keys: AnnouncedKey[] = [];
  for (const note of notes) {
    const announced = parseAnnouncement(note);
    const previous = keys.at(-1)?.key;
    const fault = announced === undefined ? "it is no announcement of a key" : faultOf(announced, previous);
    if (announced === undefined || fault !== undefined) return { keys, problem: fault ?? "" };
    const { key, size: recordIndex } = announced;
    keys.push({ key, recordIndex, afterLoss: previous !== undefined && !isNamed(announced, previous) });
  }
  return { keys, problem: "" };
}

interface Announcement {
  readonly text: string;
  readonly previous: string;
  readonly key: VerifierKey;
  readonly size: number;
  readonly signatures: readonly NoteSignature[];
}

function faultOf(announced: Announcement, before: VerifierKey | undefined): string | undefined {
  const { text, previous, key, signatures } = announced;
  if (previous !== (before?.text ?? "none")) return "it does not follow the key before it";
  if (before !== undefined && before.name !== key.name) return "it is a key of another log";
  const isSignedWith = (by: VerifierKey): boolean =>
    signatures.some(
      ({ name, keyId, signature }) => name === by.name && keyId === by.id && isSigned(by, text, signature),
    );
  if (!isSignedWith(key)) return "it is not signed by the new key";
  const isGood = before === undefined || isSignedWith(before) || !isNamed(announced, before);
  return isGood ? undefined : "it is not signed by the key that it replaces";
}

/**
 * Whether the announcement claims a signature by this key. Without one by the previous key, the new key was started
 * after a loss.
 */
function isNamed({ signatures }: Announcement, by: VerifierKey): boolean {
  return signatures.some(({ name, keyId }) => name === by.name && keyId === by.id);
}

/** Accepts only the canonical form of such a note. */
function parseAnnouncement(note: string): Announcement | undefined {
  const [head, previous = "", verifierKey = "", size = "", empty, ...rest] = note.split("\n");
  if (head !== HEAD || empty !== "" || rest.pop() !== "" || rest.length === 0 || rest.length > MAX_SIGNATURES) {
    return undefined;
  }
  const key = parseVerifierKey(verifierKey);
  const signatures = rest.map(parseSignature);
  if (key === undefined || !/^(?:0|[1-9][0-9]{0,15})$/.test(size)) return undefined;
  if (!signatures.every((signature) => signature !== undefined)) return undefined;
  return { text: `${HEAD}\n${previous}\n${verifierKey}\n${size}\n`, previous, key, size: Number(size), signatures };
}
