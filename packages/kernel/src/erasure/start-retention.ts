import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import { collectGarbage } from "./collect-garbage.ts";
import type { Retention } from "./erasure.ts";

/** Maximum number of items per round, so that retention stays a small load beside calls. */
const ITEMS_OF_ROUND = 10_000;
/** Delay before the next round when one round was not enough. */
const SOON_MS = 5000;

/** Collects garbage periodically, one round at a time, beside running calls. Returns a function that stops it. */
export function startRetention(retention: Retention, everyMs: number, kernel: KernelParts): () => void {
  if (everyMs === 0) return () => undefined;
  let timer: NodeJS.Timeout | undefined;
  const ended = new AbortController();
  const wait = (delayMs: number): void => {
    if (!ended.signal.aborted) timer = setTimeout(() => void round(), delayMs).unref();
  };
  async function round(): Promise<void> {
    let isMore = false;
    try {
      const report = await collectGarbage(
        { ...retention, dryRun: false, maxItems: ITEMS_OF_ROUND, signal: ended.signal },
        kernel,
      );
      isMore = report.more;
      if (report.items > 0) {
        const { items, bytes, sessions } = report;
        kernel.logger("info", "erased content that is no longer needed", { items, bytes, sessions });
      }
    } catch (fault) {
      if (!kernel.closing()) kernel.logger("warn", "retention failed", { cause: describeFault(fault) });
    }
    wait(isMore ? Math.min(SOON_MS, everyMs) : everyMs);
  }
  wait(everyMs);
  return () => {
    ended.abort();
    clearTimeout(timer);
  };
}
