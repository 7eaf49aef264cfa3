import { constants } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** What programs try to leave in a repository. */
const TRACE = "attack";
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Whether a program has left something in the repository itself, wherever it lies at the moment. What has its name
 * meanwhile may be a link, or a stand-in that bubblewrap made to mount over: neither is the repository.
 */
export async function isRepositoryWritten(places: readonly string[], repository: number): Promise<boolean> {
  for (;;) {
    for (const place of places) {
      const written = await lookAt(place, repository).catch(() => undefined);
      if (written !== undefined) return written;
    }
  }
}

/** Undefined where it is not, or has a link in it at the moment. Goes by handles, so that nothing is swapped on the way. */
async function lookAt(place: string, repository: number): Promise<boolean | undefined> {
  await using directory = await open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if ((await directory.stat()).ino !== repository) return undefined;
  await using config = await open(join(byHandle(directory), "config"), O_RDONLY | O_NOFOLLOW);
  await using hooks = await open(join(byHandle(directory), "hooks"), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return (await config.readFile("utf8")).includes(TRACE) || (await readdir(byHandle(hooks))).includes(TRACE);
}

function byHandle({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}
