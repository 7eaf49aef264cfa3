import { toHex } from "@narthex/contracts";

/**
 * Tracks content that a future record may reference: a call that has found content, or has just written its file,
 * references it only in its last record.
 *
 * SECURITY: content in use is not erased by retention, and its file is never removed. Otherwise a response could
 * reference erased content, or a record could reference content that is not stored. Tested by "collects nothing that a call is about to name".
 */
export interface ContentUses {
  /** Begins work that may reference content. Returns the value to pass to `end`. */
  begin(): number;
  end(use: number): void;
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Notes that running work has found or written this content. */
  note(digest: Uint8Array): void;
  /** Whether work that noted this content may still be running. */
  isInUse(digest: Uint8Array): boolean;
  /** Makes this content impossible to find until the returned function is called. */
  hold(digests: Iterable<string>): () => void;
  /** Resolves when the content is no longer held; undefined if it is not held. */
  whenFree(digest: Uint8Array): Promise<void> | undefined;
}

/**
 * Maximum number of digests remembered. Beyond it, all digests noted so far count as in use until all work running now
 * has ended.
 */
const MAX_NOTED = 100_000;

export function createContentUses(): ContentUses {
  /** Uses in the order in which they began. */
  const running = new Set<number>();
  const noted = new Map<string, number>();
  const held = new Map<string, Promise<void>>();
  let now = 0;
  /** Everything noted up to this point is no longer tracked individually. */
  let allNotedUntil = 0;

  function oldest(): number {
    return running.values().next().value ?? Number.POSITIVE_INFINITY;
  }

  function forgetEnded(): void {
    const from = oldest();
    for (const [digest, at] of noted) if (at < from) noted.delete(digest);
    if (noted.size < MAX_NOTED) return;
    noted.clear();
    allNotedUntil = now;
  }

  const begin = (): number => {
    running.add(++now);
    return now;
  };
  const end = (use: number): void => {
    running.delete(use);
  };

  return {
    begin,
    end,
    async during(work) {
      const use = begin();
      try {
        return await work();
      } finally {
        end(use);
      }
    },
    note(digest) {
      if (noted.size >= MAX_NOTED) forgetEnded();
      noted.set(toHex(digest), ++now);
    },
    isInUse: (digest) => oldest() < Math.max(noted.get(toHex(digest)) ?? 0, allNotedUntil),
    hold(digests) {
      const names = [...new Set(digests)];
      const free = Promise.withResolvers<void>();
      for (const name of names) held.set(name, free.promise);
      return () => {
        for (const name of names) if (held.get(name) === free.promise) held.delete(name);
        free.resolve();
      };
    },
    whenFree: (digest) => (held.size === 0 ? undefined : held.get(toHex(digest))),
  };
}
