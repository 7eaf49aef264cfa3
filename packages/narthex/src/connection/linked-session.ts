import { setTimeout as sleep } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { McpCaller } from "@narthex/server";
import type { KernelLink, SessionCredentials } from "./kernel-link.ts";
import type { LinkTimeouts } from "./link-timeouts.ts";

/** A session as one kernel serves it, until that kernel goes or hangs. */
export interface LinkedSession {
  readonly link: KernelLink;
  readonly session: SessionCredentials;
  /** Aborts when another kernel is needed. */
  readonly lost: AbortSignal;
  /** It is lost because it said nothing: nobody takes its place before its process ends. */
  readonly isUnresponsive: boolean;
  /** Throws KERNEL_UNREACHABLE as soon as the kernel is known to hang. */
  use<T>(operation: (caller: McpCaller) => Promise<T>): Promise<T>;
  /** After a connection broke: waits until the kernel is known to have gone, or takes it for gone. */
  waitUntilLost(): Promise<void>;
  /** Lets go of the kernel, once everything that was asked of it has ended. */
  closeWhenIdle(): Promise<void>;
  /** The same at once. */
  close(): Promise<void>;
}

export function createLinkedSession(
  link: KernelLink,
  session: SessionCredentials,
  caller: McpCaller,
  times: LinkTimeouts,
): LinkedSession {
  const lost = new AbortController();
  const waiting = new Set<(fault: KernelError) => void>();
  let isWatched = false;
  let hangs = false;
  let idle: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  const markLost = (): void => lost.abort();
  link.stopping.addEventListener("abort", markLost, { once: true });
  if (link.stopping.aborted) markLost();

  /** Only while somebody waits for an answer. */
  async function watch(): Promise<void> {
    if (isWatched) return;
    isWatched = true;
    while (waiting.size > 0 && !link.stopping.aborted) {
      await sleep(times.askMs, undefined, { ref: false });
      const silence = waiting.size > 0 ? await link.checkUnresponsive(times.silenceMs) : undefined;
      if (silence !== undefined) markUnresponsive(silence);
    }
    isWatched = false;
  }

  function markUnresponsive(silence: string): void {
    hangs = true;
    markLost();
    const fault = new KernelError("KERNEL_UNREACHABLE", silence);
    for (const giveUp of waiting) giveUp(fault);
  }

  return {
    link,
    session,
    lost: lost.signal,
    get isUnresponsive() {
      return hangs;
    },
    async use<T>(operation: (caller: McpCaller) => Promise<T>): Promise<T> {
      const { promise: hung, reject } = Promise.withResolvers<never>();
      waiting.add(reject);
      void watch();
      try {
        return await Promise.race([operation(caller), hung]);
      } finally {
        waiting.delete(reject);
        if (waiting.size === 0) idle?.();
      }
    },
    async waitUntilLost() {
      if (lost.signal.aborted) return;
      await sleep(times.wordMs, undefined, { signal: lost.signal }).catch(() => undefined);
      markLost();
    },
    async closeWhenIdle() {
      if (waiting.size > 0) await new Promise<void>((resolve) => (idle = resolve));
      await (closed ??= link.close());
    },
    close() {
      closed ??= link.close();
      return closed;
    },
  };
}
