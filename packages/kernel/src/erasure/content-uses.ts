import { toHex } from "@narthex/contracts";

/**
 * Which content may be named by a record that is still to come: a call that has found it, or has just written its file,
 * names it only at its end.
 *
 * SECURITY: what is in use is not erased by retention, and its file is not removed by anyone. Otherwise a call could be
 * answered with content that is gone, or a record could name what is nowhere. Tested by "nothing that a call is about to
 * name is collected".
 */
export interface ContentUses {
  /** Something begins that may name content; gives what `end` takes. */
  begin(): number;
  end(use: number): void;
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Somebody found it, or wrote it. */
  note(digest: Uint8Array): void;
  /** Somebody who noted it may still be under way. */
  isInUse(digest: Uint8Array): boolean;
  /** Nobody finds these until the returned function is called. */
  hold(digests: Iterable<string>): () => void;
  /** Undefined if nobody holds it. */
  whenFree(digest: Uint8Array): Promise<void> | undefined;
}

/** Digests remembered; beyond it, all that were noted count as in use until whoever runs now has ended. */
const MAX_NOTED = 100_000;

export function createContentUses(): ContentUses {
  /** In the order in which they began. */
  const running = new Set<number>();
  const noted = new Map<string, number>();
  const held = new Map<string, Promise<void>>();
  let now = 0;
  /** Whatever was noted up to here was forgotten one by one. */
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
