import { KernelError } from "@narthex/contracts";
import type { FileOperation, ListedEntry, PreparedOperation } from "@narthex/kernel";
import { type HeldItem, pullContent } from "./item-content.ts";
import { parseListed } from "./parse-reply.ts";
import type { PreparedReply } from "./worker/messages.ts";
import { readEntries } from "./read-entries.ts";
import type { WorkerTicket } from "./worker-ticket.ts";

export interface PreparedItems {
  readonly ticket: WorkerTicket;
  readonly reply: PreparedReply;
  readonly payload: Buffer;
  readonly items: readonly HeldItem[];
}

type OperationOf<Kind extends FileOperation["kind"]> = FileOperation & { readonly kind: Kind };

/** Maximum number of entries in one listing. */
export const MAX_LISTED = 100_000;

export function prepareRead(prepared: PreparedItems, operation: OperationOf<"read">): PreparedOperation {
  const { ticket, reply, payload } = prepared;
  const [item] = prepared.items;
  if (item?.item.state.kind !== "file") throw ticket.protocolViolation();
  const rest = Math.max(0, item.size - operation.offset);
  const length = operation.limit === 0 ? rest : Math.min(rest, operation.limit);
  if (reply.inline && payload.length !== length) throw ticket.protocolViolation();
  if (!reply.held) ticket.finish();
  async function* content(): AsyncGenerator<Uint8Array, void> {
    try {
      if (!reply.inline) yield* pullContent(ticket, 0, { offset: operation.offset, length });
      else if (length > 0) yield payload;
    } finally {
      ticket.close();
    }
  }
  const { size } = item;
  return toPreparedRead(prepared, () => Promise.resolve({ kind: "read", size, length, content: content() }));
}

export function prepareList(prepared: PreparedItems, operation: OperationOf<"list">): PreparedOperation {
  const { ticket } = prepared;
  return toPreparedRead(prepared, async () => {
    try {
      const entries: ListedEntry[] = [];
      const read = readEntries(ticket, Math.min(operation.limit, MAX_LISTED), parseListed);
      for await (const batch of read.batches) entries.push(...batch);
      return { kind: "list", entries, partial: read.isPartial() };
    } finally {
      ticket.close();
    }
  });
}

export function prepareInspect(prepared: PreparedItems): PreparedOperation {
  const [item] = prepared.items;
  if (item === undefined) throw prepared.ticket.protocolViolation();
  return toPreparedRead(prepared, async () => {
    try {
      return { kind: "inspect", state: await item.state() };
    } finally {
      prepared.ticket.close();
    }
  });
}

/** Creates an operation that changes nothing. */
function toPreparedRead({ ticket, items }: PreparedItems, act: PreparedOperation["commit"]): PreparedOperation {
  let isCommitted = false;
  return {
    opened: items.map(({ path }) => path),
    async *preimages() {
      // Reads replace nothing.
    },
    async commit() {
      if (isCommitted) throw new KernelError("INTERNAL", "the file operation is over already");
      isCommitted = true;
      return await act();
    },
    async abandon() {
      ticket.close();
      await Promise.resolve();
    },
  };
}
