import type { Kernel } from "@narthex/kernel";

/** A stream during which nothing is erased: whoever reads a ledger from its beginning would find it changed half way. */
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
