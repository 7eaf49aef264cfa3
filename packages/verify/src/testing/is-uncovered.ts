import { ContentPlace, fromBinary, type RecordContent, RecordContentSchema, toBinary } from "@narthex/contracts";

/** GRANTED, POLICY_SET, DEFINITION: bound by digest or to the session alone. */
export const UNCOMMITTED: ReadonlySet<number> = new Set([8, 9, 10]);

/** Whether a change affects only data that no commitment covers: see docs/formats/content.md. */
export function isUncovered(before: Uint8Array, after: Uint8Array): boolean {
  const [left, right] = [parse(before), parse(after)];
  if (left === undefined || right === undefined || left.items.length !== right.items.length) return false;
  for (const content of [left, right]) {
    for (const item of content.items) {
      if (item.place === ContentPlace.FILE) item.place = ContentPlace.ELSEWHERE;
      if (item.place === ContentPlace.ERASED) item.size = 0n;
      if (UNCOMMITTED.has(item.role)) item.nonce = new Uint8Array(item.nonce.length);
      if (item.role !== 5 && item.role !== 7) item.labels = item.labels.map(() => "");
    }
  }
  return Buffer.compare(toBinary(RecordContentSchema, left), toBinary(RecordContentSchema, right)) === 0;
}

function parse(bytes: Uint8Array): RecordContent | undefined {
  try {
    return fromBinary(RecordContentSchema, bytes);
  } catch {
    return undefined;
  }
}
