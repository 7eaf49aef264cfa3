import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeOwnTree } from "@narthex/host";

/** Provides an empty directory while events are consumed: replayed programs get it in place of a workspace. */
export async function* withEmptyDirectory<Event>(
  use: (emptyDirectory: string) => AsyncIterable<Event>,
): AsyncGenerator<Event> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-replay-"));
  try {
    yield* use(directory);
  } finally {
    removeOwnTree(directory);
  }
}
