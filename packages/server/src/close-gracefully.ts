export interface GracefulClose {
  readonly graceMs: number;
  /** Resolves when everything was answered and everybody has gone. */
  finished(): Promise<void>;
  /** Cancels what still runs; its answers say so. */
  cancel(): void;
}

/** How long answers to cancelled calls may take to leave. */
const FINAL_RESPONSES_MS = 500;

/** Waits for running calls, cancels them when the grace is over, and leaves their answers a moment to be sent. */
export async function closeGracefully({ graceMs, finished, cancel }: GracefulClose): Promise<void> {
  const done = finished().then((): true => true);
  if (await completesWithin(done, graceMs)) return;
  cancel();
  await completesWithin(done, FINAL_RESPONSES_MS);
}

async function completesWithin(done: Promise<true>, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, false);
  });
  const isDone = await Promise.race([done, tooLate]);
  clearTimeout(timer);
  return isDone;
}
