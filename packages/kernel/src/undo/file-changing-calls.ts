import {
  type ContentItem,
  ContentPlace,
  ContentRole,
  type Entry,
  fromBinary,
  KernelError,
  RecordContentSchema,
  type RecordMessage,
  RecordSchema,
} from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { parseFileTrace } from "../replay/stored-file-trace.ts";
import type { FileChange } from "../workspace-files.ts";

/** A call that changed files, according to its outcome. */
export interface FileChangingCall {
  readonly requestId: string;
  /** Index of the outcome's record. */
  readonly recordIndex: number;
  readonly changes: readonly FileChange[];
  /** `begun` if an undo was interrupted. */
  readonly undone: "no" | "begun" | "done";
}

const PAGE = 500;
const MAX_CHANGES = 100_000;

/** Reads the calls of a session that changed files, oldest first. */
export async function readFileChangingCalls(sessionId: string, kernel: KernelParts): Promise<FileChangingCall[]> {
  const calls: FileChangingCall[] = [];
  const undone = new Map<number, "begun" | "done">();
  let total = 0;
  for (let from = 0; ; ) {
    const page = await kernel.store.readRecords({ chain: sessionId, from, limit: PAGE });
    for (const stored of page) {
      const message = fromBinary(RecordSchema, stored.record);
      for (const entry of message.entries) noteUndone(entry, undone);
      if (!namesFiles(message)) continue;
      const changes = await readChanges(fromBinary(RecordContentSchema, stored.content).items, stored.index, kernel);
      total += changes.length;
      if (total > MAX_CHANGES) throw new KernelError("RESOURCE_EXCEEDED", "too much was changed to undo it at once");
      if (changes.length > 0)
        calls.push({ requestId: message.requestId, recordIndex: stored.index, changes, undone: "no" });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    from = last.index + 1;
  }
  return calls.map((call) => ({ ...call, undone: undone.get(call.recordIndex) ?? "no" }));
}

function noteUndone({ kind }: Entry, undone: Map<number, "begun" | "done">): void {
  if (kind.case === "changesUndone") undone.set(Number(kind.value.recordIndex), kind.value.done ? "done" : "begun");
}

function namesFiles({ entries }: RecordMessage): boolean {
  return entries.some(({ kind }) => {
    switch (kind.case) {
      case "toolCompleted":
      case "toolFailed":
      case "toolTimedOut":
      case "toolDenied":
        return kind.value.filesCommitment.length > 0;
      default:
        return false;
    }
  });
}

async function readChanges(
  items: readonly ContentItem[],
  index: number,
  kernel: KernelParts,
): Promise<readonly FileChange[]> {
  const item = items.find(({ role }) => role === ContentRole.FILES);
  const bytes = item && (await readItem(item, kernel));
  if (bytes === undefined) {
    throw new KernelError("CONTENT_NOT_FOUND", `what record ${index} changed was erased; nothing was undone`);
  }
  return parseFileTrace(bytes).changed;
}

async function readItem(item: ContentItem, kernel: KernelParts): Promise<Uint8Array | undefined> {
  if (item.place === ContentPlace.ROW) return item.data;
  const found = item.digest.length === 0 ? undefined : await kernel.content.findAny(item.digest);
  return found && (await kernel.content.read(found.content, 0, 0));
}
