/** Hands events from work that pushes them to a reader who takes them. */
export interface EventChannel<Event> {
  /** Resolves once the event was taken: whoever pushes waits, and nothing piles up. */
  push(event: Event): Promise<void>;
  /** The same without waiting: dropped if the one before it was not taken yet. */
  offer(event: Event): void;
}

/** Runs work and yields what it pushes, up to its end. What it throws is thrown here. */
export async function* streamEvents<Event>(
  work: (channel: EventChannel<Event>) => Promise<void>,
): AsyncGenerator<Event> {
  const waiting: { readonly event: Event; readonly taken: () => void }[] = [];
  let [wake, ended]: [(() => void) | undefined, boolean] = [undefined, false];
  const add = (event: Event, taken: () => void): void => {
    waiting.push({ event, taken });
    wake?.();
  };
  const running = work({
    push: (event) => new Promise<void>((resolve) => add(event, resolve)),
    offer: (event) => {
      if (waiting.length === 0) add(event, () => undefined);
    },
  }).finally(() => {
    ended = true;
    wake?.();
  });
  // It is awaited below; until then its failure must not count as unhandled.
  running.catch(() => undefined);
  for (;;) {
    const next = waiting.shift();
    if (next !== undefined) {
      yield next.event;
      next.taken();
    } else if (ended) break;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
  await running;
}
