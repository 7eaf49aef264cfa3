import type { NodeResponse } from "./http-listener.ts";

/** Disconnects clients that do not read their responses. */
export interface WriteWatch {
  add(response: NodeResponse): void;
  remove(response: NodeResponse): void;
  close(): void;
}

interface Waiting {
  pending: number;
  sinceMs: number;
}

export function createWriteWatch(timeoutMs: number): WriteWatch {
  const watched = new Map<NodeResponse, Waiting>();
  const timer = setInterval(check, Math.min(1000, timeoutMs));
  timer.unref();

  function check(): void {
    const nowMs = Date.now();
    for (const [response, waiting] of watched) {
      const pending = "stream" in response ? response.stream.writableLength : response.writableLength;
      if (pending === 0 || pending !== waiting.pending) {
        waiting.pending = pending;
        waiting.sinceMs = nowMs;
      } else if (nowMs - waiting.sinceMs > timeoutMs) {
        watched.delete(response);
        if ("stream" in response) response.stream.destroy();
        else response.destroy();
      }
    }
  }

  return {
    add: (response) => watched.set(response, { pending: 0, sinceMs: 0 }),
    remove: (response) => watched.delete(response),
    close: () => clearInterval(timer),
  };
}
