import { blake3, KernelError, toHex } from "@narthex/contracts";
import { parseTranscriptEntry } from "./parse-transcript-entry.ts";
import type { TranscriptEntry } from "./transcript.ts";

const NEWLINE = 0x0a;
const CHECKSUM_CHARACTERS = 16;

/** Formats an entry as one line: a prefix of the BLAKE3 hash of its JSON, a space, and the JSON. */
export function toTranscriptLine(entry: TranscriptEntry): Buffer {
  const json = JSON.stringify(entry);
  return Buffer.from(`${checksumOf(json)} ${json}\n`);
}

/**
 * Parses the entries, and returns where the last complete one ends. Only the last line may be torn; otherwise
 * CONTENT_DAMAGED is thrown.
 */
export function readTranscriptLines(bytes: Buffer): { readonly entries: TranscriptEntry[]; readonly end: number } {
  const entries: TranscriptEntry[] = [];
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline === -1) break;
    const json = verifyLine(bytes.toString("utf8", start, newline));
    if (json === undefined) {
      if (newline === bytes.length - 1) break;
      throw new KernelError("CONTENT_DAMAGED", `line ${entries.length + 1} of the transcript is not as it was written`);
    }
    entries.push(parseTranscriptEntry(json));
    start = newline + 1;
  }
  return { entries, end: start };
}

/** The JSON of a line, if its hash matches. */
function verifyLine(line: string): string | undefined {
  const json = line.slice(CHECKSUM_CHARACTERS + 1);
  return line === `${checksumOf(json)} ${json}` ? json : undefined;
}

function checksumOf(json: string): string {
  return toHex(blake3(Buffer.from(json))).slice(0, CHECKSUM_CHARACTERS);
}
