import { KernelError, type ToolResponse } from "@narthex/contracts";
import type { McpCaller, WatchTools } from "@narthex/server";
import { isUnreachable } from "./connection-error.ts";
import type { LastingLink } from "./lasting-link.ts";
import type { LinkedSession } from "./linked-session.ts";

/** How many kernels one question is put to before it is given up. */
const MAX_KERNELS = 8;

/** What a kernel answers to calls that it did not begin, or ended, because it goes. */
const CUT_SHORT: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "CANCELLED"]);

export interface LastingCaller extends McpCaller {
  readonly watchTools: WatchTools;
  /** As the kernel of the moment has it: `open`, `closed`, ...; undefined where nobody has heard of it. */
  sessionState(): Promise<string | undefined>;
}

/**
 * A session's caller that goes on when its kernel does not: what got no answer is asked of the next kernel, calls under
 * their own request ids, so that by the kernel's own rules nothing runs twice.
 *
 * SECURITY: each kernel is asked for itself whether clients may answer questions; what another one allowed is no yes.
 */
export function createLastingCaller(link: LastingLink): LastingCaller {
  /** Calls that run, and how many wait for each. */
  const running = new Map<string, number>();
  const cancelled = new Set<string>();

  async function ask<T>(question: (caller: McpCaller, linked: LinkedSession) => Promise<T>): Promise<T> {
    for (let left = MAX_KERNELS; ; left--) {
      const linked = await link.current();
      try {
        return await linked.use((caller) => question(caller, linked));
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        // Whoever waits for one that hangs hears of it in time to do something.
        if (left === 1 || linked.hangs) throw new KernelError("KERNEL_UNREACHABLE", error.message, { cause: error });
      }
      await linked.untilLost();
    }
  }

  function begin(requestId: string): () => void {
    running.set(requestId, (running.get(requestId) ?? 0) + 1);
    return () => {
      const others = (running.get(requestId) ?? 1) - 1;
      if (others > 0) running.set(requestId, others);
      else if (running.delete(requestId)) cancelled.delete(requestId);
    };
  }

  /** Whether the answer is a going kernel's, and the next one's may be better. */
  async function isCutShort({ requestId, result }: ToolResponse, { link: kernel }: LinkedSession): Promise<boolean> {
    if (result.case !== "error" || !result.value.retryable || cancelled.has(requestId)) return false;
    return CUT_SHORT.has(result.value.errorCode) && (await kernel.isGoing());
  }

  return {
    listTools: () => ask((caller) => caller.listTools()),
    sessionState: () => ask((_, { link: kernel, session }) => kernel.sessionState(session.sessionId)),
    watchTools: (told, signal) =>
      new Promise((resolve) => {
        const end = link.onToolsChanged(told);
        const stop = (): void => {
          end();
          resolve();
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      }),
    async call(call, options) {
      const end = begin(call.requestId);
      try {
        return await ask(async (caller, linked) => {
          // It may have had effects at the kernel before; another one must not begin it.
          if (cancelled.has(call.requestId)) throw new KernelError("CANCELLED", "the call was cancelled");
          const response = await caller.call(call, options);
          if (await isCutShort(response, linked)) throw new KernelError("KERNEL_UNREACHABLE", "the kernel shut down");
          return response;
        });
      } catch (error) {
        throw isUnreachable(error) ? unanswered(error) : error;
      } finally {
        end();
      }
    },
    cancel(requestId) {
      if (running.has(requestId)) cancelled.add(requestId);
      void link
        .now()
        .use(async (caller) => caller.cancel(requestId))
        .catch(() => undefined);
    },
    readContent(hash, offset, limit) {
      return ask(async (caller) => {
        const reading = await caller.readContent(hash, offset, limit);
        // Read to its end here: what breaks off in the middle is asked for again.
        const chunks: Uint8Array[] = [];
        for await (const chunk of reading.chunks) chunks.push(Buffer.from(chunk));
        return { ...reading, chunks: eachOf(chunks) };
      });
    },
    explain: (name, input) => ask((caller) => caller.explain(name, input)),
    approvals: {
      find: (fits, signal) =>
        ask(async (caller, linked) => (linked.link.elicitation ? look(caller, linked, fits, signal) : undefined)),
      notice: (fits, signal) => ask((caller, linked) => look(caller, linked, fits, signal)),
      answer(answer) {
        return ask(async (caller, { link: kernel }) => {
          if (!kernel.elicitation) throw new KernelError("APPROVAL_UNAVAILABLE", "clients are not asked here any more");
          await caller.approvals.answer(answer);
        });
      },
      decline: (decline) => ask((caller) => caller.approvals.decline(decline)),
    },
    refuse(reason, bytes) {
      void link
        .now()
        .use(async (caller) => caller.refuse(reason, bytes))
        .catch(() => undefined);
    },
    takeNotice: () => link.takeNotice(),
  };
}

/** Looks for a question at one kernel; throws KERNEL_UNREACHABLE if that kernel goes meanwhile. */
async function look(
  caller: McpCaller,
  { lost }: LinkedSession,
  ...[fits, signal]: Parameters<McpCaller["approvals"]["find"]>
): ReturnType<McpCaller["approvals"]["find"]> {
  const looking = caller.approvals.notice(fits, AbortSignal.any([signal, lost]));
  const found = await looking.catch((error: unknown) => {
    if (!lost.aborted) throw error;
    return undefined;
  });
  if (found === undefined && !signal.aborted) throw new KernelError("KERNEL_UNREACHABLE", "the kernel goes");
  return found;
}

async function* eachOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function unanswered(cause: Error): KernelError {
  const text =
    `${cause.message}; the call may have been carried out. ` +
    "Ask for exactly the same again to hear how it ended: it does not run twice";
  return new KernelError("KERNEL_UNREACHABLE", text, { cause });
}
