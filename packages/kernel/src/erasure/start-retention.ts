import type { KernelParts } from "../kernel-parts.ts";
import { describeFault } from "../result/describe-fault.ts";
import { collectGarbage } from "./collect-garbage.ts";
import type { Retention } from "./erasure.ts";

/** Of one round: what it does stays small beside what calls do. */
const ITEMS_OF_ROUND = 10_000;
/** Where one round was not enough. */
const SOON_MS = 5000;

/** Collects again and again, one round at a time, beside the calls; gives the end of it. */
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
        kernel.logger("info", "content that nobody needs any more was erased", { items, bytes, sessions });
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
