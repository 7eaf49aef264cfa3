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
  /**
   * Environment of this client: a kernel that it starts gets only a few of its variables, and its session's programs
   * get the PATH.
   */
  readonly environment: NodeJS.ProcessEnv;
  readonly request: OpenSessionInput;
  /** Whether to open another session if the store has lost the current one. */
  readonly renew: boolean;
  readonly log: Logger;
  /** Whether a kernel that is started accepts a workspace with its own code. */
  readonly allowOwnCode: boolean;
  /** Command file that kernels are started with; this package's by default. */
  readonly program?: string | undefined;
  readonly signal: AbortSignal;
  readonly times?: Partial<LinkTimeouts>;
  /** Called whenever a kernel was found, or was started and is waited for: time for other work of this process. */
  onWait?(): void;
}

/** A session that outlives its kernel: when a kernel ends, the link attaches to the next one, or starts one. */
export interface ReconnectingLink {
  /** Returns the session at the current kernel; throws KERNEL_UNREACHABLE if no kernel is found in time. */
  current(): Promise<LinkedSession>;
  /** Returns the latest known session without waiting. */
  latest(): LinkedSession;
  /**
   * Calls the listener when the tools may have changed, as with each new kernel; returns a function that unsubscribes.
   */
  onToolsChanged(listener: () => void): () => void;
  /** Returns a notice, once, if the session was replaced by another one. */
  takeNotice(): string | undefined;
  /**
   * Closes the session and disconnects from the kernel. Without a kernel at that moment, the session ends by its time
   * limit.
   */
  close(): Promise<void>;
}

/** A kernel started with `serve` is expected to come back. */
const SERVE = "serve";
const MIN_RETRY_MS = 100;
/** Upper limit of the growing delay between attempts. */
const MAX_RETRY_MS = 3000;
/** The limit if a kernel cannot be started, because each attempt costs a process. */
const MAX_START_RETRY_MS = 30_000;

/** Throws the last error if no first kernel is found in time. */
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

  /** Finds a running kernel; does not start one. */
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

  /** Retries if a kernel ends during the handshake. */
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

  /** Retries until a kernel is found: a connected client must not be left without one. */
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

  /** Doubles the delay each time. */
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
      // An unresponsive kernel may recover and would close the session of a disconnected client, so the link stays open
      // until the next kernel is found.
      const mayGoOn = !found.link.stopping.aborted && !signal.aborted;
      if (!mayGoOn) retire();
      if (signal.aborted) return;
      finding = findNext(found, performance.now() - foundAtMs).then(switchTo);
      // Callers that await `finding` get the error.
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
        // Both promises reject only at shutdown, which the loop checks.
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
      // An unresponsive kernel must not keep this client from closing.
      const closed = link.closeSession(session.sessionId).catch(() => undefined);
      await Promise.race([closed, sleep(times.greetingMs, undefined, { ref: false })]);
      await last.close();
    },
  };
}
