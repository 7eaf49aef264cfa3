import { createBlake3, KernelError, toHex } from "@narthex/contracts";
import type { FileState } from "@narthex/kernel";
import { quotePath } from "./explain-fault.ts";
import type { Item } from "./worker/messages.ts";
import type { WorkerTicket } from "./worker-ticket.ts";

const CHUNK_BYTES = 256 * 1024;
/** Requests sent ahead, so that the worker reads while the kernel works. */
const MAX_AHEAD = 2;

/** Reads bytes of a file that a worker holds open, with at most a few chunks in memory. */
export async function* pullContent(
  ticket: WorkerTicket,
  item: number,
  range: { readonly offset: number; readonly length: number },
): AsyncGenerator<Uint8Array, void> {
  const asked: Array<{ readonly length: number; readonly answer: Promise<{ payload: Buffer }> }> = [];
  let { offset } = range;
  const end = range.offset + range.length;
  while (offset < end || asked.length > 0) {
    while (offset < end && asked.length < MAX_AHEAD) {
      const length = Math.min(CHUNK_BYTES, end - offset);
      const answer = ticket.ask("chunk", { type: "pull", item, offset, length });
      answer.catch(() => undefined);
      asked.push({ length, answer });
      offset += length;
    }
    const next = asked.shift();
    if (next === undefined) return;
    const { payload } = await next.answer;
    if (payload.length !== next.length) throw ticket.protocolViolation();
    yield payload;
  }
}

/** An item that an operation affects, with its bytes if it is a file. */
export class HeldItem {
  readonly path: string;
  readonly item: Item;
  readonly #ticket: WorkerTicket;
  readonly #index: number;
  readonly #inline: Buffer | undefined;
  #state: Promise<FileState> | undefined;

  constructor(ticket: WorkerTicket, index: number, item: Item, inline?: Buffer) {
    this.path = item.path;
    this.item = item;
    this.#ticket = ticket;
    this.#index = index;
    this.#inline = inline;
  }

  get size(): number {
    return this.item.state.kind === "file" ? this.item.state.size : 0;
  }

  /** Returns the state with the hash, for which a file is read once. */
  state(): Promise<FileState> {
    this.#state ??= this.#readState();
    return this.#state;
  }

  /** Returns the bytes as received, without verifying them. */
  async *bytes(): AsyncGenerator<Uint8Array, void> {
    if (this.item.state.kind !== "file") return;
    if (this.#inline !== undefined) yield this.#inline;
    else yield* pullContent(this.#ticket, this.#index, { offset: 0, length: this.size });
  }

  /** Returns the bytes that match the state; throws before the last chunk if they differ. */
  async *content(): AsyncGenerator<Uint8Array, void> {
    const state = await this.state();
    const hasher = createBlake3();
    let last: Uint8Array | undefined;
    for await (const piece of this.bytes()) {
      if (last !== undefined) yield last;
      hasher.update(piece);
      last = piece;
    }
    if (state.kind === "file" && toHex(hasher.digest()) !== state.hash) {
      throw new KernelError("EXECUTION_FAILED", `${quotePath(this.path)} changed while it was read`);
    }
    if (last !== undefined) yield last;
  }

  async #readState(): Promise<FileState> {
    const { state } = this.item;
    if (state.kind !== "file") return state;
    const hasher = createBlake3();
    for await (const piece of this.bytes()) hasher.update(piece);
    return { kind: "file", hash: toHex(hasher.digest()), size: state.size, mode: state.mode };
  }
}
