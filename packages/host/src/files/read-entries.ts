import type { WorkerTicket } from "./worker-ticket.ts";

/** Requests entries until all were received. Throws if there are more than the maximum. */
export function readEntries<Entry>(
  ticket: WorkerTicket,
  maxEntries: number,
  parse: (value: unknown) => Entry,
): { readonly batches: AsyncIterable<readonly Entry[]>; isPartial(): boolean } {
  let isPartial = false;
  async function* batches(): AsyncGenerator<readonly Entry[], void> {
    let from = 0;
    let total = 1;
    while (from < total) {
      const { reply, payload } = await ticket.ask("entries", { type: "entries", from });
      const batch = parseBatch(ticket, payload, parse);
      if (reply.total > maxEntries || from + batch.length > reply.total) throw ticket.protocolViolation();
      if (batch.length === 0 && from < reply.total) throw ticket.protocolViolation();
      isPartial = reply.partial;
      from += batch.length;
      total = reply.total;
      yield batch;
    }
  }
  return { batches: batches(), isPartial: () => isPartial };
}

function parseBatch<Entry>(ticket: WorkerTicket, payload: Buffer, parse: (value: unknown) => Entry): Entry[] {
  try {
    const values: unknown = JSON.parse(payload.toString("utf8"));
    if (!Array.isArray(values)) throw new TypeError("not an array");
    return values.map((value: unknown) => parse(value));
  } catch {
    throw ticket.protocolViolation();
  }
}
