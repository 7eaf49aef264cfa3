import { setTimeout as sleep } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { McpCaller } from "@narthex/server";
import type { KernelLink, SessionCredentials } from "./kernel-link.ts";
import type { LinkTimeouts } from "./link-timeouts.ts";

/** A session as served by one kernel, until that kernel ends or becomes unresponsive. */
export interface LinkedSession {
  readonly link: KernelLink;
  readonly session: SessionCredentials;
  /** Aborts when another kernel is needed. */
  readonly lost: AbortSignal;
  /** Lost because the kernel did not respond: no other kernel takes its place before its process ends. */
  readonly isUnresponsive: boolean;
  /** Throws KERNEL_UNREACHABLE as soon as the kernel is known to be unresponsive. */
  use<T>(operation: (caller: McpCaller) => Promise<T>): Promise<T>;
  /** After a broken connection: waits until the kernel is known to have ended, and assumes so after a timeout. */
  waitUntilLost(): Promise<void>;
  /** Closes the link to the kernel, once all its pending requests have ended. */
  closeWhenIdle(): Promise<void>;
  /** Closes the link at once. */
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

  /** Checks the kernel only while a response is awaited. */
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
