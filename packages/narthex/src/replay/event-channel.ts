/** Passes events from a producer that pushes them to a consumer that pulls them. */
export interface EventChannel<Event> {
  /** Resolves once the event was consumed: the producer waits, so nothing piles up. */
  push(event: Event): Promise<void>;
  /** Pushes without waiting: the event is dropped if the previous one was not consumed yet. */
  offer(event: Event): void;
}

/** Runs work and yields the events that it pushes until it ends. Rethrows its errors. */
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
