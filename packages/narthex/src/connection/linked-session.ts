import { setTimeout as sleep } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { McpCaller } from "@narthex/server";
import type { KernelLink, OwnSession } from "./kernel-link.ts";
import type { LinkTimes } from "./link-times.ts";

/** A session as one kernel serves it, until that kernel goes or hangs. */
export interface LinkedSession {
  readonly link: KernelLink;
  readonly session: OwnSession;
  /** Aborts when another kernel is needed. */
  readonly lost: AbortSignal;
  /** It is lost because it said nothing: nobody takes its place before its process ends. */
  readonly hangs: boolean;
  /** Throws KERNEL_UNREACHABLE as soon as the kernel is known to hang. */
  use<T>(operation: (caller: McpCaller) => Promise<T>): Promise<T>;
  /** After a connection broke: waits until the kernel is known to have gone, or takes it for gone. */
  untilLost(): Promise<void>;
  /** Lets go of the kernel, once everything that was asked of it has ended. */
  retire(): Promise<void>;
  /** The same at once. */
  close(): Promise<void>;
}

export function createLinkedSession(
  link: KernelLink,
  session: OwnSession,
  caller: McpCaller,
  times: LinkTimes,
): LinkedSession {
  const lost = new AbortController();
  const waiting = new Set<(fault: KernelError) => void>();
  let isWatched = false;
  let hangs = false;
  let idle: (() => void) | undefined;
  let closed: Promise<void> | undefined;
  const lose = (): void => lost.abort();
  link.going.addEventListener("abort", lose, { once: true });
  if (link.going.aborted) lose();

  /** Only while somebody waits for an answer. */
  async function watch(): Promise<void> {
    if (isWatched) return;
    isWatched = true;
    while (waiting.size > 0 && !link.going.aborted) {
      await sleep(times.askMs, undefined, { ref: false });
      const silence = waiting.size > 0 ? await link.silence(times.silenceMs) : undefined;
      if (silence !== undefined) hang(silence);
    }
    isWatched = false;
  }

  function hang(silence: string): void {
    hangs = true;
    lose();
    const fault = new KernelError("KERNEL_UNREACHABLE", silence);
    for (const giveUp of waiting) giveUp(fault);
  }

  return {
    link,
    session,
    lost: lost.signal,
    get hangs() {
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
    async untilLost() {
      if (lost.signal.aborted) return;
      await sleep(times.wordMs, undefined, { signal: lost.signal }).catch(() => undefined);
      lose();
    },
    async retire() {
      if (waiting.size > 0) await new Promise<void>((resolve) => (idle = resolve));
      await (closed ??= link.close());
    },
    close() {
      closed ??= link.close();
      return closed;
    },
  };
}
