export interface GracefulClose {
  readonly graceMs: number;
  /** Resolves when every request has its response and all clients have disconnected. */
  finished(): Promise<void>;
  /** Cancels the running calls; their responses say so. */
  cancel(): void;
}

/** How long responses to cancelled calls may take to be sent. */
const FINAL_RESPONSES_MS = 500;

/**
 * Waits for running calls, cancels them at the end of the grace period, and leaves a moment for their responses to be
 * sent.
 */
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
