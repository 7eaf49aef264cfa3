export interface IdleOptions {
  readonly idleMs: number;
  readonly signal: AbortSignal;
  /** Whether a client is connected, may come back, or left a call running. */
  isInUse(): boolean;
}

const MAX_POLL_MS = 1000;
const MIN_POLL_MS = 20;

/** Resolves when nothing has used the kernel for `idleMs`. Never resolves if the signal aborts first. */
export function waitUntilIdle({ idleMs, signal, isInUse }: IdleOptions): Promise<void> {
  return new Promise((resolve) => {
    let idleSinceMs = performance.now();
    const everyMs = Math.max(MIN_POLL_MS, Math.min(MAX_POLL_MS, idleMs / 4));
    const timer = setInterval(() => {
      if (isInUse()) idleSinceMs = performance.now();
      else if (performance.now() - idleSinceMs >= idleMs) {
        clearInterval(timer);
        resolve();
      }
    }, everyMs);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
  });
}
