import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeOwnTree } from "@narthex/host";

/** An empty directory for as long as events are taken: programs that are run again find it where a workspace was. */
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
