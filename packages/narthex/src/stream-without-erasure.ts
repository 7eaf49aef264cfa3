import type { Kernel } from "@narthex/kernel";

/**
 * Pauses erasure during a stream: a reader that reads the ledger from the beginning must not see it change half way.
 */
export async function* streamWithoutErasure<T>(
  kernel: Pick<Kernel, "withErasurePaused">,
  open: () => AsyncIterable<T>,
): AsyncGenerator<T> {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const sharing = kernel.withErasurePaused(async () => {
    begun.resolve();
    await ended.promise;
  });
  sharing.catch(begun.reject);
  await begun.promise;
  try {
    yield* open();
  } finally {
    ended.resolve();
    await sharing;
  }
}
