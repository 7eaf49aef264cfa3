import { FileFault } from "./file-fault.ts";
import { type HeldEntry, holdEntry, releaseEntry } from "./held-entry.ts";
import type { Item, PreparedReply } from "./messages.ts";
import { readRange } from "./read-file.ts";
import { sweepEarlierRuns } from "./sweep.ts";
import { INLINE_BYTES, NOTHING, type Ticket } from "./ticket.ts";
import type { Workspace } from "./workspace.ts";

/** Opens a file for reading. A short range is read at once, and nothing stays open. */
export function prepareRead(workspace: Workspace, operation: { path: string; offset: number; limit: number }): Ticket {
  const held = requireFile(holdEntry(workspace, operation.path, "follow"));
  const size = held.state.kind === "file" ? held.state.size : 0;
  const rest = Math.max(0, size - operation.offset);
  const length = operation.limit === 0 ? rest : Math.min(rest, operation.limit);
  if (length > INLINE_BYTES)
    return { ...toPreparedReply([held]), pull: pullFrom([held]), close: () => releaseEntry(held) };
  try {
    const payload = held.file === undefined ? NOTHING : readRange(held.file, operation.offset, length);
    return {
      prepared: { ...toPreparedReply([held]).prepared, inline: true, held: false },
      payload,
      close: () => undefined,
    };
  } finally {
    releaseEntry(held);
  }
}

/** Inspects the entry at a path without following a link. */
export function prepareInspect(workspace: Workspace, path: string): Ticket {
  const held = holdEntry(workspace, path, "keep");
  if (held.spot.missing.length === 0) sweepEarlierRuns(workspace, held.spot.directory);
  return { ...toPreparedReply([held]), pull: pullFrom([held]), close: () => releaseEntry(held) };
}

/** Creates the response for held entries, with the content of the first file if it is short. */
export function toPreparedReply(items: readonly HeldEntry[]): { prepared: PreparedReply; payload: Buffer } {
  const [first] = items;
  const isShort = first?.file !== undefined && first.state.kind === "file" && first.state.size <= INLINE_BYTES;
  const payload =
    isShort && first.file !== undefined ? readRange(first.file, 0, Number(first.stats?.size ?? 0n)) : NOTHING;
  return { prepared: { type: "prepared", items: items.map(itemOf), inline: isShort, held: true }, payload };
}

export function pullFrom(items: readonly HeldEntry[]): (item: number, offset: number, length: number) => Buffer {
  return (item, offset, length) => {
    const file = items[item]?.file;
    if (file === undefined) throw new FileFault("NOT_A_FILE");
    return readRange(file, offset, length);
  };
}

function itemOf({ path, state }: HeldEntry): Item {
  return { path, state };
}

/** Returns the entry if it is a file; otherwise releases it and throws. */
export function requireFile(held: HeldEntry): HeldEntry {
  if (held.state.kind === "file") return held;
  releaseEntry(held);
  throw new FileFault(held.state.kind === "absent" ? "FILE_NOT_FOUND" : "NOT_A_FILE");
}
