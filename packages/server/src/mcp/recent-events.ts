import type { EventStore, JSONRPCMessage } from "@modelcontextprotocol/server";

interface KeptEvent {
  readonly streamId: string;
  readonly message: JSONRPCMessage;
  readonly bytes: number;
}

const MAX_EVENTS = 256;
const MAX_BYTES = 4 * 1024 * 1024;

/** Keeps the last messages of a connection, so that a response is not lost with a broken stream. */
export function createRecentEvents(): EventStore {
  /** Oldest first. */
  const events = new Map<string, KeptEvent>();
  let bytes = 0;
  let count = 0;

  function forgetOldest(): void {
    for (const [id, event] of events) {
      if (events.size <= MAX_EVENTS && bytes <= MAX_BYTES) return;
      events.delete(id);
      bytes -= event.bytes;
    }
  }

  return {
    async storeEvent(streamId, message) {
      const id = String(++count);
      const event = { streamId, message, bytes: JSON.stringify(message).length };
      events.set(id, event);
      bytes += event.bytes;
      forgetOldest();
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.get(id)?.streamId;
    },
    async replayEventsAfter(lastId, { send }) {
      const streamId = events.get(lastId)?.streamId ?? "";
      const missed = [...events].filter(([id, event]) => event.streamId === streamId && Number(id) > Number(lastId));
      for (const [id, { message }] of missed) await send(id, message);
      return streamId;
    },
  };
}
