import { isUtf8 } from "node:buffer";
import { FileFault, markUnchangedOnThrow } from "./file-fault.ts";
import { findOccurrences, linesOf } from "./find-occurrences.ts";
import { type HeldEntry, holdEntry, releaseEntry } from "./held-entry.ts";
import { toPreparedReply, pullFrom, requireFile } from "./prepare-read.ts";
import { modeOf } from "./prepare-write.ts";
import { readWhole } from "./read-file.ts";
import { Replacement } from "./replacement.ts";
import type { Ticket } from "./ticket.ts";
import type { Workspace } from "./workspace.ts";

/** Maximum size of a file, before and after an edit. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;
/** Maximum number of positions in one response. */
const MAX_OCCURRENCES = 100_000;
const MAX_LINES = 1000;

/** Opens a file and finds the text to replace. */
export function prepareEdit(workspace: Workspace, path: string, wanted: Buffer, replaceAll: boolean): Ticket {
  const held = requireFile(holdEntry(workspace, path, "follow"));
  try {
    const { offsets, lines } = findPlaces(held, wanted, replaceAll);
    const answer = toPreparedReply([held]);
    // Keeps only the length, because the text may be long.
    const oldLength = wanted.length;
    const prepared = { ...answer.prepared, occurrences: offsets.length, lines };
    const payload = Buffer.concat([encodeOffsets(offsets), answer.payload]);
    let replacement: Replacement | undefined;
    return {
      prepared,
      payload,
      pull: pullFrom([held]),
      async commit(text) {
        const made = markUnchangedOnThrow(() => {
          replacement = new Replacement(workspace, held);
          replacement.createFile();
          writeEdited(held, replacement, { offsets, oldLength, text });
          return replacement;
        });
        return await made.place(modeOf(held));
      },
      close() {
        replacement?.close();
        releaseEntry(held);
      },
    };
  } catch (fault) {
    releaseEntry(held);
    throw fault;
  }
}

function findPlaces(
  held: HeldEntry,
  wanted: Buffer,
  replaceAll: boolean,
): { offsets: readonly number[]; lines: number[] } {
  if (wanted.length === 0) throw new FileFault("INVALID_INPUT", "name");
  const bytes = contentOf(held);
  if (!isUtf8(bytes)) throw new FileFault("NOT_TEXT");
  const { count, offsets, starts } = findOccurrences(bytes, wanted, MAX_OCCURRENCES);
  if (count === 0) throw new FileFault("NO_MATCH");
  if (count > 1 && !replaceAll) {
    throw new FileFault("MULTIPLE_MATCHES", "code", { count, lines: [...new Set(linesOf(bytes, starts))] });
  }
  if (offsets.length > MAX_OCCURRENCES) throw new FileFault("RESOURCE_EXCEEDED", "too-many-occurrences");
  return { offsets, lines: linesOf(bytes, offsets.slice(0, MAX_LINES)) };
}

function writeEdited(
  held: HeldEntry,
  replacement: Replacement,
  { offsets, oldLength, text }: { offsets: readonly number[]; oldLength: number; text: Buffer },
): void {
  const bytes = contentOf(held);
  if (bytes.length + offsets.length * (text.length - oldLength) > MAX_FILE_BYTES) throw tooLarge();
  const pieces: Buffer[] = [];
  let kept = 0;
  for (const offset of offsets) {
    pieces.push(bytes.subarray(kept, offset), text);
    kept = offset + oldLength;
  }
  replacement.write(Buffer.concat([...pieces, bytes.subarray(kept)]), 0);
}

function contentOf({ file, state }: HeldEntry): Buffer {
  if (file === undefined || state.kind !== "file") throw new FileFault("NOT_A_FILE");
  if (state.size > MAX_FILE_BYTES) throw tooLarge();
  return readWhole(file, state.size);
}

function tooLarge(): FileFault {
  return new FileFault("RESOURCE_EXCEEDED", "file-too-large", { count: MAX_FILE_BYTES });
}

function encodeOffsets(offsets: readonly number[]): Buffer {
  const encoded = Buffer.allocUnsafe(offsets.length * 8);
  for (const [index, offset] of offsets.entries()) encoded.writeDoubleBE(offset, index * 8);
  return encoded;
}
