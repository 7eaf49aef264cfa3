import { setTimeout as sleep } from "node:timers/promises";
import { KernelError } from "@narthex/contracts";
import type { Logger } from "@narthex/kernel";
import { KernelStartError } from "../on-demand/kernel-starter.ts";
import { isUnreachable } from "./connection-error.ts";
import type { OpenSessionInput } from "./kernel-connection.ts";
import { createKernelFinder } from "./kernel-finder.ts";
import type { KernelLink } from "./kernel-link.ts";
import type { LinkedSession } from "./linked-session.ts";
import { LINK_TIMEOUTS, type LinkTimeouts } from "./link-timeouts.ts";
import { createSessionKeeper } from "./session-keeper.ts";

export interface ReconnectingLinkOptions {
  readonly home: string;
  /** Of this client: a kernel that it starts gets little of it, and its session's programs the PATH. */
  readonly environment: NodeJS.ProcessEnv;
  readonly request: OpenSessionInput;
  /** Opens another session where the store has lost the one it was. */
  readonly renew: boolean;
  readonly log: Logger;
  /** A kernel that is started accepts a workspace with its own code. */
  readonly allowOwnCode: boolean;
  /** The command's file that kernels are started with; this package's by default. */
  readonly program?: string | undefined;
  readonly signal: AbortSignal;
  readonly times?: Partial<LinkTimeouts>;
  /** Called whenever a kernel was found, or is starting and waited for: time for other work of this process. */
  onWait?(): void;
}

/** A session that outlives the kernel it was opened at: when one goes, the next is attached to, or started. */
export interface ReconnectingLink {
  /** The kernel of the moment; throws KERNEL_UNREACHABLE if none is found in time. */
  current(): Promise<LinkedSession>;
  /** The same without waiting. */
  latest(): LinkedSession;
  /** Tells when the tools may have changed, as with each new kernel; gives the end of it. */
  onToolsChanged(listener: () => void): () => void;
  /** That the session is another one than before, if it is; once. */
  takeNotice(): string | undefined;
  /** Closes the session and lets go of the kernel. Where there is none at that moment the session ends by its time. */
  close(): Promise<void>;
}

/** Whoever serves means to come back. */
const SERVE = "serve";
const MIN_RETRY_MS = 100;
/** Where something stands in the way, it is looked more and more seldom. */
const MAX_RETRY_MS = 3000;
/** The same where a kernel cannot be started: each attempt costs a process. */
const MAX_START_RETRY_MS = 30_000;

/** Throws what is in the way if no first kernel is found in time. */
export async function openReconnectingLink(options: ReconnectingLinkOptions): Promise<ReconnectingLink> {
  const { log } = options;
  const times: LinkTimeouts = { ...LINK_TIMEOUTS, ...options.times };
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, options.signal]);
  const listeners = new Set<() => void>();
  const keeper = createSessionKeeper({ ...options, times });
  let obstacle = "";
  let pauseMs = MIN_RETRY_MS;

  const finder = createKernelFinder({ ...options, times, signal });

  async function find(): Promise<LinkedSession> {
    return connectSession(await finder.find());
  }

  /** Without starting one. */
  async function findRunning(): Promise<LinkedSession | undefined> {
    const link = await finder.attach();
    return link && connectSession(link);
  }

  async function connectSession(link: KernelLink): Promise<LinkedSession> {
    try {
      const found = await keeper.connect(link);
      link.onToolsChanged(notifyListeners);
      return found;
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  /** One that goes while it is greeted is no reason to give up at once. */
  async function findFirst(): Promise<LinkedSession> {
    const deadline = performance.now() + times.startMs;
    for (;;) {
      try {
        return await find();
      } catch (error) {
        const isFinal = !isUnreachable(error) || error instanceof KernelStartError;
        if (isFinal || performance.now() > deadline) throw error;
        await sleep(MIN_RETRY_MS, undefined, { signal });
      }
    }
  }

  /** Goes on until there is one: a client that stays must not be left without. */
  async function findNext({ link: { holder } }: LinkedSession, lastedMs: number): Promise<LinkedSession> {
    log("info", "the kernel goes; looking for the next one", { holder });
    if (lastedMs > MAX_RETRY_MS) pauseMs = MIN_RETRY_MS;
    else await pause(MAX_RETRY_MS);
    const patientUntil = performance.now() + (holder === SERVE ? times.returnMs : 0);
    for (;;) {
      try {
        const found = await (performance.now() >= patientUntil ? find() : findRunning());
        if (found !== undefined) return found;
      } catch (error) {
        if (signal.aborted) throw error;
        logObstacle(error);
        await pause(error instanceof KernelStartError ? MAX_START_RETRY_MS : MAX_RETRY_MS);
        continue;
      }
      await sleep(MIN_RETRY_MS, undefined, { signal });
    }
  }

  /** Longer each time. */
  async function pause(maxMs: number): Promise<void> {
    await sleep(pauseMs, undefined, { signal });
    pauseMs = Math.min(2 * pauseMs, maxMs);
  }

  function logObstacle(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    if (text !== obstacle) log("warn", "no kernel can be reached", { error: text });
    obstacle = text;
  }

  function notifyListeners(): void {
    for (const listener of listeners) listener();
  }

  function replaceWhenLost(found: LinkedSession): LinkedSession {
    const foundAtMs = performance.now();
    const replace = (): void => {
      const retire = (): void => void found.closeWhenIdle().catch(() => undefined);
      // A kernel that hangs may go on: it closes the session of a client that has hung up.
      const mayGoOn = !found.link.stopping.aborted && !signal.aborted;
      if (!mayGoOn) retire();
      if (signal.aborted) return;
      finding = findNext(found, performance.now() - foundAtMs).then(switchTo);
      // Whoever waits for it hears why there is none.
      void finding.catch(() => undefined).then(() => mayGoOn && retire());
    };
    if (found.lost.aborted) replace();
    else found.lost.addEventListener("abort", replace, { once: true });
    return found;
  }

  function switchTo(found: LinkedSession): LinkedSession {
    const { link, session } = found;
    log("info", "the session goes on", { holder: link.holder, session: session.sessionId });
    obstacle = "";
    linked = found;
    replaceWhenLost(found);
    notifyListeners();
    return found;
  }

  let linked = await findFirst();
  let finding = Promise.resolve(linked);
  replaceWhenLost(linked);

  return {
    async current() {
      const deadline = performance.now() + times.waitMs;
      while (linked.lost.aborted) {
        const left = deadline - performance.now();
        if (left <= 0) throw new KernelError("KERNEL_UNREACHABLE", obstacle || "no kernel took the home in time");
        if (signal.aborted) throw new KernelError("KERNEL_UNREACHABLE", "this client of the kernel is shutting down");
        // Only shutting down ends either without a kernel.
        await Promise.race([finding, sleep(left, undefined, { signal, ref: false })]).catch(() => undefined);
      }
      return linked;
    },
    latest: () => linked,
    onToolsChanged(told) {
      listeners.add(told);
      return () => void listeners.delete(told);
    },
    takeNotice: () => keeper.takeNotice(),
    async close() {
      closing.abort();
      const last = await finding.catch(() => undefined);
      if (last === undefined) return;
      const { link, session } = last;
      // One that hangs keeps nobody from leaving.
      const closed = link.closeSession(session.sessionId).catch(() => undefined);
      await Promise.race([closed, sleep(times.greetingMs, undefined, { ref: false })]);
      await last.close();
    },
  };
}
