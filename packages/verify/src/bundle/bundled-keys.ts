import { type NoteSignature, parseSignature } from "../log/checkpoint.ts";
import { isSigned, type LogKey, parseLogKey } from "../log/log-key.ts";

/** The keys of a log, as the announcements in a bundle hand over from one to the next. */
export interface BundledKeys {
  readonly keys: readonly LogKey[];
  /** Empty, or what is wrong with the first announcement that is not good. */
  readonly problem: string;
}

const HEAD = "narthex/log-key/v1";
const MOST_SIGNATURES = 16;

/** SPEC: docs/formats/log.md, "Announcements". Each but the first is signed by the key before it too. */
export function readBundledKeys(notes: readonly string[]): BundledKeys {
  const keys: LogKey[] = [];
  for (const note of notes) {
    const announced = parseAnnouncement(note);
    const previous = keys.at(-1);
    const fault = announced === undefined ? "it is no announcement of a key" : faultOf(announced, previous);
    if (announced === undefined || fault !== undefined) return { keys, problem: fault ?? "" };
    keys.push(announced.key);
  }
  return { keys, problem: "" };
}

interface Announcement {
  readonly text: string;
  readonly previous: string;
  readonly key: LogKey;
  readonly signatures: readonly NoteSignature[];
}

function faultOf({ text, previous, key, signatures }: Announcement, before: LogKey | undefined): string | undefined {
  if (previous !== (before?.text ?? "none")) return "it does not follow the key before it";
  if (before !== undefined && before.name !== key.name) return "it is a key of another log";
  const isSignedWith = (by: LogKey): boolean =>
    signatures.some(
      ({ name, keyId, signature }) => name === by.name && keyId === by.id && isSigned(by, text, signature),
    );
  if (!isSignedWith(key)) return "it is not signed by the new key";
  return before === undefined || isSignedWith(before) ? undefined : "it is not signed by the key that it replaces";
}

/** Nothing else than the one form of such a note. */
function parseAnnouncement(note: string): Announcement | undefined {
  const [head, previous = "", verifierKey = "", size = "", empty, ...rest] = note.split("\n");
  if (head !== HEAD || empty !== "" || rest.pop() !== "" || rest.length === 0 || rest.length > MOST_SIGNATURES) {
    return undefined;
  }
  const key = parseLogKey(verifierKey);
  const signatures = rest.map(parseSignature);
  if (key === undefined || !/^(?:0|[1-9][0-9]{0,15})$/.test(size)) return undefined;
  if (!signatures.every((signature) => signature !== undefined)) return undefined;
  return { text: `${HEAD}\n${previous}\n${verifierKey}\n${size}\n`, previous, key, signatures };
}
