import { asUnchanged, describeFault, FileFault } from "./file-fault.ts";
import type { WorkerMessage } from "./worker-message.ts";
import type { DoneReply, FailedReply, WorkerOperation, WorkerReply, WorkerRequest } from "./messages.ts";
import { prepareDelete } from "./prepare-delete.ts";
import { prepareEdit } from "./prepare-edit.ts";
import { prepareList } from "./prepare-list.ts";
import { prepareMove } from "./prepare-move.ts";
import { prepareInspect, prepareRead } from "./prepare-read.ts";
import { prepareRestore } from "./prepare-restore.ts";
import { prepareWrite } from "./prepare-write.ts";
import type { Ticket } from "./ticket.ts";
import type { Workspace } from "./workspace.ts";

export type Answer = (id: number, reply: WorkerReply, payload?: Buffer) => void;

interface OpenTicket {
  readonly ticket: Ticket;
  /** Why its content could not be written. Reported at the commit. */
  fault?: FailedReply;
  isCommitting: boolean;
  isAbandoned: boolean;
}

/** The open operations, by the number of the request that prepared them. */
export class Tickets {
  readonly #workspace: Workspace;
  readonly #answer: Answer;
  readonly #open = new Map<number, OpenTicket>();

  constructor(workspace: Workspace, answer: Answer) {
    this.#workspace = workspace;
    this.#answer = answer;
  }

  handle({ id, payload }: WorkerMessage, request: WorkerRequest): void {
    try {
      this.#handle(id, request, payload);
    } catch (fault) {
      this.#answer(id, describeFault(fault));
    }
  }

  #handle(id: number, request: WorkerRequest, payload: Buffer): void {
    switch (request.type) {
      case "prepare":
        return this.#prepare(id, request.operation, payload);
      case "pull": {
        const bytes = this.#find(id).ticket.pull?.(request.item, request.offset, request.length);
        return this.#answer(id, { type: "chunk" }, bytes);
      }
      case "entries": {
        const batch = this.#find(id).ticket.entries?.(request.from);
        return this.#answer(id, batch?.reply ?? { type: "entries", total: 0, partial: false }, batch?.payload);
      }
      case "content":
        return this.#content(id, payload);
      case "commit":
        return void this.#commit(id, payload);
      case "abandon":
        return this.#abandon(id);
      case "start":
        throw new FileFault("INVALID_INPUT");
    }
  }

  #prepare(id: number, operation: WorkerOperation, payload: Buffer): void {
    const ticket = prepare(this.#workspace, operation, payload);
    if (ticket.prepared.held) this.#open.set(id, { ticket, isCommitting: false, isAbandoned: false });
    this.#answer(id, ticket.prepared, ticket.payload);
  }

  #content(id: number, piece: Buffer): void {
    const open = this.#open.get(id);
    if (open === undefined || open.fault !== undefined) return;
    try {
      open.ticket.content?.(piece);
    } catch (fault) {
      // The content went to a temporary file, which is removed with the ticket.
      open.fault = describeFault(asUnchanged(fault));
    }
  }

  /** Commits an operation. A failed one is cleaned up before its response is sent. */
  async #commit(id: number, payload: Buffer): Promise<void> {
    const open = this.#open.get(id);
    const reply = await this.#tryCommit(open, payload);
    if (open !== undefined) open.isCommitting = false;
    if (reply.type === "failed" || open?.isAbandoned === true) this.#close(id);
    this.#answer(id, reply);
  }

  async #tryCommit(open: OpenTicket | undefined, payload: Buffer): Promise<DoneReply | FailedReply> {
    try {
      if (open?.ticket.commit === undefined) throw new FileFault("INVALID_INPUT");
      open.isCommitting = true;
      return open.fault ?? (await open.ticket.commit(payload));
    } catch (fault) {
      return describeFault(fault);
    }
  }

  #abandon(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    if (open.isCommitting) open.isAbandoned = true;
    else this.#close(id);
  }

  #close(id: number): void {
    this.#open.get(id)?.ticket.close();
    this.#open.delete(id);
  }

  #find(id: number): OpenTicket {
    const open = this.#open.get(id);
    if (open === undefined) throw new FileFault("INVALID_INPUT");
    return open;
  }
}

function prepare(workspace: Workspace, operation: WorkerOperation, payload: Buffer): Ticket {
  switch (operation.kind) {
    case "read":
      return prepareRead(workspace, operation);
    case "list":
      return prepareList(workspace, operation);
    case "write":
      return prepareWrite(workspace, operation.path, operation.mode);
    case "edit":
      return prepareEdit(workspace, operation.path, payload, operation.replaceAll);
    case "delete":
      return prepareDelete(workspace, operation.path, operation.recursive);
    case "move":
      return prepareMove(workspace, operation);
    case "restore":
      return prepareRestore(workspace, operation.path, operation.before);
    case "inspect":
      return prepareInspect(workspace, operation.path);
  }
}
