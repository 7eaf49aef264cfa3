import type { MessageInitShape } from "@bufbuild/protobuf";
import { KernelError, type ReplayRequest, type ReplayResponseSchema } from "@narthex/contracts";

export type ReplayEvent = MessageInitShape<typeof ReplayResponseSchema>;

/** Which sessions are run again, and what is told of them. */
export type ReplaySelection = Pick<ReplayRequest, "sessionIds" | "skipVerify" | "digestOnly" | "listCalls">;

/** Runs recorded sessions again, given by whoever opens the door. Goes on only as fast as what it finds is taken. */
export type Replay = (asked: ReplaySelection, signal: AbortSignal) => AsyncIterable<ReplayEvent>;

/** What a replay finds, as it finds it. A client that leaves ends it. */
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
