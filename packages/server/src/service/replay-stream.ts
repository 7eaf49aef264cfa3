import type { MessageInitShape } from "@bufbuild/protobuf";
import { KernelError, type ReplayRequest, type ReplayResponseSchema } from "@narthex/contracts";

export type ReplayEvent = MessageInitShape<typeof ReplayResponseSchema>;

/** Which sessions are replayed, and what is reported about them. */
export type ReplaySelection = Pick<ReplayRequest, "sessionIds" | "skipVerify" | "digestOnly" | "listCalls">;

/**
 * Replays recorded sessions; provided by the code that opens the door. Continues only as fast as its events are
 * consumed.
 */
export type Replay = (asked: ReplaySelection, signal: AbortSignal) => AsyncIterable<ReplayEvent>;

/** Streams the findings of a replay as they occur. A client that disconnects ends it. */
export async function* streamReplay(
  replay: Replay | undefined,
  selection: ReplaySelection,
  signal: AbortSignal,
): AsyncGenerator<ReplayEvent> {
  if (replay === undefined) {
    throw new KernelError("INTERNAL", "this kernel was opened without a replayer; run `narthex replay`");
  }
  const left = new AbortController();
  try {
    yield* replay(selection, AbortSignal.any([signal, left.signal]));
  } finally {
    left.abort();
  }
}
