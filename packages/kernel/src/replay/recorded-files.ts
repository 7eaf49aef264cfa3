import { blake3, ContentPlace, ContentRole, isJsonObject, parseJson, toHex, utf8 } from "@narthex/contracts";
import { type StoredFileTrace, EMPTY_FILE_TRACE, parseFileTrace } from "./stored-file-trace.ts";
import { contentOfBytes, findItem, readItem, readWhole } from "./recorded-content.ts";
import type { RecordedCall } from "./recorded-call.ts";
import type { ReplayContent, ReplaySource } from "./replay-source.ts";

/** The recorded files of a call, with access to their bytes. */
export interface RecordedFiles {
  readonly trace: StoredFileTrace;
  contentOf(hash: string): Promise<ReplayContent | undefined>;
}

/** Maximum size of a result that is searched for the content that its call read. */
const MAX_SEARCHED_BYTES = 32 * 1024 * 1024;

/** Returns undefined if the file trace, or bytes that it refers to, were erased. */
export async function findRecordedFiles(
  call: RecordedCall,
  source: ReplaySource,
): Promise<RecordedFiles | "left_out" | undefined> {
  const commitment = call.outcome?.value.filesCommitment;
  if (commitment === undefined || commitment.length === 0) {
    return { trace: EMPTY_FILE_TRACE, contentOf: () => Promise.resolve(undefined) };
  }
  const bytes = await readItem(call.open(ContentRole.FILES, commitment), source);
  if (bytes === "left_out") return bytes;
  if (bytes === "erased") return undefined;
  const preimages = call.itemsOf(ContentRole.PREIMAGE);
  if (preimages.some(({ place }) => place === ContentPlace.ERASED)) return undefined;
  return {
    trace: parseFileTrace(bytes),
    async contentOf(hash) {
      const preimage = preimages.find(({ digest }) => toHex(digest) === hash);
      const found = preimage && (await findItem(preimage, source));
      return typeof found === "object" ? found : await findInResult(call, hash, source);
    },
  };
}

/**
 * Searches the result for content that the call read: this content usually is the result or a text in it, and is not
 * stored twice.
 */
async function findInResult(
  call: RecordedCall,
  hash: string,
  source: ReplaySource,
): Promise<ReplayContent | undefined> {
  const item = call.open(ContentRole.RESULT, call.outcome?.value.resultCommitment ?? new Uint8Array(0));
  const found = item && (await findItem(item, source));
  if (item === undefined || typeof found !== "object") return undefined;
  if (toHex(item.digest) === hash) return found;
  if (found.size > MAX_SEARCHED_BYTES) return undefined;
  for (const text of textsIn(await readWhole(found))) {
    const bytes = utf8(text);
    const digest = blake3(bytes);
    if (toHex(digest) === hash) return contentOfBytes(bytes, digest);
  }
  return undefined;
}

/** The texts that are direct fields of a JSON object. */
function textsIn(bytes: Uint8Array): string[] {
  try {
    const json = parseJson(bytes);
    return isJsonObject(json) ? Object.values(json).filter((value) => typeof value === "string") : [];
  } catch {
    return [];
  }
}
