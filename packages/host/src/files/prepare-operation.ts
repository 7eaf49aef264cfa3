import { utf8 } from "@narthex/contracts";
import type { FileOperation, PreparedOperation } from "@narthex/kernel";
import { HeldItem } from "./item-content.ts";
import { prepareDelete, prepareEdit, prepareMove, prepareRestore, prepareWrite } from "./prepare-change.ts";
import { type PreparedItems, MAX_LISTED, prepareInspect, prepareList, prepareRead } from "./prepare-reading.ts";
import type { ItemState, PreparedReply, WorkerOperation } from "./worker/messages.ts";
import type { WorkerTicket } from "./worker-ticket.ts";

/** Makes a worker open the items that an operation affects. */
export async function prepareOperation(ticket: WorkerTicket, operation: FileOperation): Promise<PreparedOperation> {
  const wanted = operation.kind === "edit" ? utf8(operation.oldContent) : undefined;
  const request = { type: "prepare", operation: toWorker(operation) } as const;
  const { reply, payload } = await ticket.ask("prepared", request, wanted);
  const prepared: PreparedItems = { ticket, reply, payload, items: heldItems(ticket, operation, reply, payload) };
  switch (operation.kind) {
    case "read":
      return prepareRead(prepared, operation);
    case "list":
      return prepareList(prepared, operation);
    case "inspect":
      return prepareInspect(prepared);
    case "write":
      return prepareWrite(prepared, operation);
    case "edit":
      return prepareEdit(prepared, operation);
    case "delete":
      return prepareDelete(prepared);
    case "move":
      return prepareMove(prepared);
    case "restore":
      return await prepareRestore(prepared, operation);
  }
}

/**
 * Creates the items. Short content of the first is included in the response, except for a read, which returns only a
 * part of the file.
 */
function heldItems(
  ticket: WorkerTicket,
  operation: FileOperation,
  reply: PreparedReply,
  payload: Buffer,
): readonly HeldItem[] {
  const start = (reply.occurrences ?? 0) * 8;
  if (start > payload.length) throw ticket.protocolViolation();
  const content = reply.inline && operation.kind !== "read" ? payload.subarray(start) : undefined;
  return reply.items.map((item, index) => {
    const inline = index === 0 ? content : undefined;
    if (inline !== undefined && (item.state.kind !== "file" || item.state.size !== inline.length))
      throw ticket.protocolViolation();
    return new HeldItem(ticket, index, item, inline);
  });
}

function toWorker(operation: FileOperation): WorkerOperation {
  switch (operation.kind) {
    case "list":
      return { ...operation, glob: operation.glob ?? null, limit: Math.min(operation.limit, MAX_LISTED) };
    case "write":
      return { kind: "write", path: operation.path, mode: operation.mode };
    case "edit":
      return { kind: "edit", path: operation.path, replaceAll: operation.replaceAll };
    case "restore":
      return { kind: "restore", path: operation.path, before: toItemState(operation) };
    default:
      return operation;
  }
}

function toItemState({ before }: FileOperation & { kind: "restore" }): ItemState {
  return before.kind === "file" ? { kind: "file", size: before.size, mode: before.mode } : before;
}
