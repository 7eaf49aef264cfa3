import { createBlake3, isKernelError, KernelError, toHex, utf8 } from "@narthex/contracts";
import type { FileResult, FileChange, FileOperation, FileState, PreparedOperation } from "@narthex/kernel";
import { quotePath } from "./explain-fault.ts";
import { hashEdited } from "./hash-edited.ts";
import { HeldItem } from "./item-content.ts";
import { parseItem } from "./parse-reply.ts";
import type { PreparedItems } from "./prepare-reading.ts";
import { readEntries } from "./read-entries.ts";
import { sendContent } from "./send-content.ts";
import type { DoneReply } from "./worker/messages.ts";

type OperationOf<Kind extends FileOperation["kind"]> = FileOperation & { readonly kind: Kind };

/** How a change is made, and what it affects. */
interface Change {
  /** Items that are replaced or deleted. */
  before(): AsyncIterable<HeldItem>;
  /** Collects everything that must be known before the change, then makes it. */
  perform(): Promise<{ readonly changes: readonly FileChange[]; readonly lines?: readonly number[] }>;
}

const ABSENT: FileState = { kind: "absent" };
const MAX_TREE_ENTRIES = 100_000;

export function prepareWrite(prepared: PreparedItems, operation: OperationOf<"write">): PreparedOperation {
  const { ticket } = prepared;
  const item = requireItem(prepared, 0);
  return toPreparedChange(prepared, {
    before: () => existingItems([item]),
    async perform() {
      const before = await item.state();
      const hasher = createBlake3();
      const isAppended = operation.mode === "append" && before.kind === "file";
      if (isAppended) for await (const piece of item.bytes()) hasher.update(piece);
      hasher.update(operation.content);
      const done = await ticket.commit(await sendContent(ticket, operation.content));
      const size = operation.content.length + (isAppended ? before.size : 0);
      const after: FileState = { kind: "file", hash: toHex(hasher.digest()), size, mode: done.mode };
      return { changes: [...createdDirectories(done), { path: item.path, before, after }] };
    },
  });
}

export function prepareEdit(prepared: PreparedItems, operation: OperationOf<"edit">): PreparedOperation {
  const { ticket, reply } = prepared;
  const item = requireItem(prepared, 0);
  const [oldText, text] = [utf8(operation.oldContent), utf8(operation.newContent)];
  const offsets = readOffsets(prepared, item.size, oldText.length);
  return toPreparedChange(prepared, {
    before: () => existingItems([item]),
    async perform() {
      const before = await item.state();
      const hash = await hashEdited(item.bytes(), { offsets, oldLength: oldText.length, text });
      const { mode } = await ticket.commit(text);
      const size = item.size + offsets.length * (text.length - oldText.length);
      return {
        changes: [{ path: item.path, before, after: { kind: "file", hash, size, mode } }],
        lines: reply.lines ?? [],
      };
    },
  });
}

export function prepareDelete(prepared: PreparedItems): PreparedOperation {
  const { ticket } = prepared;
  const top = requireItem(prepared, 0);
  let entries: Promise<readonly HeldItem[]> | undefined;
  const readTree = async (): Promise<readonly HeldItem[]> => {
    if (top.item.state.kind !== "directory") return [top];
    const found = [top];
    for await (const batch of readEntries(ticket, MAX_TREE_ENTRIES, parseItem).batches) {
      for (const item of batch) {
        if (!item.path.startsWith(`${top.path}/`)) throw ticket.protocolViolation();
        found.push(new HeldItem(ticket, found.length, item));
      }
    }
    return found;
  };
  const tree = async function* (): AsyncGenerator<HeldItem, void> {
    entries ??= readTree();
    yield* await entries;
  };
  return toPreparedChange(prepared, {
    before: tree,
    async perform() {
      const changes: FileChange[] = [];
      for await (const item of tree()) changes.push({ path: item.path, before: await item.state(), after: ABSENT });
      await ticket.commit();
      return { changes };
    },
  });
}

export function prepareMove(prepared: PreparedItems): PreparedOperation {
  const [source, destination] = [requireItem(prepared, 0), requireItem(prepared, 1)];
  return toPreparedChange(prepared, {
    before: () => existingItems([destination]),
    async perform() {
      const [moved, replaced] = [await source.state(), await destination.state()];
      const done = await prepared.ticket.commit();
      return {
        changes: [
          ...createdDirectories(done),
          { path: source.path, before: moved, after: ABSENT },
          { path: destination.path, before: replaced, after: moved },
        ],
      };
    },
  });
}

export async function prepareRestore(
  prepared: PreparedItems,
  operation: OperationOf<"restore">,
): Promise<PreparedOperation> {
  const { ticket } = prepared;
  const item = requireItem(prepared, 0);
  const found = await item.state();
  if (!isSameState(found, operation.expected)) {
    ticket.close();
    throw new KernelError("EXECUTION_FAILED", `${quotePath(item.path)} is not as it was left; look at it first`);
  }
  return toPreparedChange(prepared, {
    before: () => existingItems([item]),
    async perform() {
      const done = await ticket.commit(await sendRestored(prepared, operation));
      const { before } = operation;
      const after = before.kind === "file" || before.kind === "directory" ? { ...before, mode: done.mode } : before;
      return { changes: [...createdDirectories(done), { path: item.path, before: found, after }] };
    },
  });
}

function toPreparedChange({ ticket, items }: PreparedItems, change: Change): PreparedOperation {
  return {
    opened: items.map(({ path }) => path),
    async *preimages() {
      for await (const item of change.before()) {
        yield { path: item.path, state: await item.state(), content: () => item.content() };
      }
    },
    async commit(): Promise<FileResult> {
      try {
        const { changes, lines = [] } = await change.perform();
        return { kind: "changed", changes, lines };
      } catch (fault) {
        throw ticket.isCommitting || !isKernelError(fault) ? fault : asChangedNothing(fault);
      } finally {
        ticket.close();
      }
    },
    async abandon() {
      ticket.close();
      await Promise.resolve();
    },
  };
}

/** For errors before the worker was told to change anything. */
function asChangedNothing({ code, message, violations, cause }: KernelError): KernelError {
  return new KernelError(code, message, { violations, cause, changedNothing: true });
}

async function* existingItems(items: readonly HeldItem[]): AsyncGenerator<HeldItem, void> {
  for (const item of items) if (item.item.state.kind !== "absent") yield item;
}

function requireItem({ ticket, items }: PreparedItems, index: number): HeldItem {
  const item = items[index];
  if (item === undefined) throw ticket.protocolViolation();
  return item;
}

function createdDirectories({ made }: DoneReply): FileChange[] {
  return made.flatMap(({ path, state }) =>
    state.kind === "directory" ? [{ path, before: ABSENT, after: { kind: "directory", mode: state.mode } }] : [],
  );
}

/** Parses the positions of the old text and verifies that they are ascending, inside the file and not overlapping. */
function readOffsets({ ticket, reply, payload }: PreparedItems, size: number, oldLength: number): number[] {
  const offsets = Array.from({ length: reply.occurrences ?? 0 }, (_, index) => payload.readDoubleBE(index * 8));
  let free = 0;
  for (const offset of offsets) {
    if (!Number.isSafeInteger(offset) || offset < free || offset + oldLength > size) throw ticket.protocolViolation();
    free = offset + oldLength;
  }
  return offsets;
}

/** SECURITY: content with another hash than the recorded one is not written. */
async function sendRestored(
  { ticket }: PreparedItems,
  operation: OperationOf<"restore">,
): Promise<Uint8Array | undefined> {
  const { before, content } = operation;
  if (before.kind !== "file" || content === undefined) return undefined;
  const hasher = createBlake3();
  async function* hashed(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of content instanceof Uint8Array ? [content] : (content ?? [])) {
      hasher.update(piece);
      yield piece;
    }
  }
  const last = await sendContent(ticket, hashed());
  if (toHex(hasher.digest()) === before.hash) return last;
  throw new KernelError("EXECUTION_FAILED", `${quotePath(operation.path)}: the content is not what was there before`);
}

function isSameState(left: FileState, right: FileState): boolean {
  if (left.kind === "file" && right.kind === "file") {
    return left.hash === right.hash && left.size === right.size && left.mode === right.mode;
  }
  if (left.kind === "directory" && right.kind === "directory") return left.mode === right.mode;
  if (left.kind === "link" && right.kind === "link") return left.target === right.target;
  return left.kind === "absent" && right.kind === "absent";
}
