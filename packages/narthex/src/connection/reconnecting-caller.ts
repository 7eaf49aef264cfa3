import { KernelError, type ToolResponse } from "@narthex/contracts";
import type { McpCaller, WatchTools } from "@narthex/server";
import { isUnreachable } from "./connection-error.ts";
import type { ReconnectingLink } from "./reconnecting-link.ts";
import type { LinkedSession } from "./linked-session.ts";

/** Maximum number of kernels that one request is sent to. */
const MAX_KERNELS = 8;

/** Codes with which a stopping kernel responds to calls that it did not start or that it ended. */
const SHUTDOWN_CODES: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "CANCELLED"]);

export interface ReconnectingCaller extends McpCaller {
  readonly watchTools: WatchTools;
  /** State according to the current kernel: `open`, `closed`, ...; undefined if the session is unknown. */
  findSessionState(): Promise<string | undefined>;
}

/**
 * Creates a caller that outlives its kernel: a request without a response is sent to the next kernel, calls under their
 * own request ids, so that the kernel's deduplication keeps anything from running twice.
 *
 * SECURITY: each kernel is asked whether clients may decide approvals; what another kernel allowed does not count.
 */
export function createReconnectingCaller(link: ReconnectingLink): ReconnectingCaller {
  /** Running calls, with the number of waiters for each. */
  const running = new Map<string, number>();
  const cancelled = new Set<string>();

  async function retryOnNextKernel<T>(operation: (caller: McpCaller, linked: LinkedSession) => Promise<T>): Promise<T> {
    for (let left = MAX_KERNELS; ; left--) {
      const linked = await link.current();
      try {
        return await linked.use((caller) => operation(caller, linked));
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        // Callers of an unresponsive kernel get an error while they can still react.
        if (left === 1 || linked.isUnresponsive)
          throw new KernelError("KERNEL_UNREACHABLE", error.message, { cause: error });
      }
      await linked.waitUntilLost();
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

  /** Whether the error is due to the kernel's shutdown, so that the next kernel should be asked. */
  async function endedByShutdown(
    { requestId, result }: ToolResponse,
    { link: kernel }: LinkedSession,
  ): Promise<boolean> {
    if (result.case !== "error" || !result.value.retryable || cancelled.has(requestId)) return false;
    return SHUTDOWN_CODES.has(result.value.errorCode) && (await kernel.isStopping());
  }

  return {
    listTools: () => retryOnNextKernel((caller) => caller.listTools()),
    findSessionState: () =>
      retryOnNextKernel((_, { link: kernel, session }) => kernel.findSessionState(session.sessionId)),
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
        return await retryOnNextKernel(async (caller, linked) => {
          // The call may already have had effects at the previous kernel; another kernel must not start it.
          if (cancelled.has(call.requestId)) throw new KernelError("CANCELLED", "the call was cancelled");
          const response = await caller.call(call, options);
          if (await endedByShutdown(response, linked))
            throw new KernelError("KERNEL_UNREACHABLE", "the kernel shut down");
          return response;
        });
      } catch (error) {
        throw isUnreachable(error) ? createNoResponseError(error) : error;
      } finally {
        end();
      }
    },
    cancel(requestId) {
      if (running.has(requestId)) cancelled.add(requestId);
      void link
        .latest()
        .use(async (caller) => caller.cancel(requestId))
        .catch(() => undefined);
    },
    readContent(hash, offset, limit) {
      return retryOnNextKernel(async (caller) => {
        const reading = await caller.readContent(hash, offset, limit);
        // Reads to the end, so that an interrupted read is repeated as a whole.
        const chunks: Uint8Array[] = [];
        for await (const chunk of reading.chunks) chunks.push(Buffer.from(chunk));
        return { ...reading, chunks: toAsyncGenerator(chunks) };
      });
    },
    explain: (name, input) => retryOnNextKernel((caller) => caller.explain(name, input)),
    approvals: {
      find: (fits, signal) =>
        retryOnNextKernel(async (caller, linked) =>
          linked.link.elicitation ? waitForApprovalRequest(caller, linked, fits, signal) : undefined,
        ),
      findForNotice: (fits, signal) =>
        retryOnNextKernel((caller, linked) => waitForApprovalRequest(caller, linked, fits, signal)),
      decide(answer) {
        return retryOnNextKernel(async (caller, { link: kernel }) => {
          if (!kernel.elicitation) throw new KernelError("APPROVAL_UNAVAILABLE", "clients are not asked here any more");
          await caller.approvals.decide(answer);
        });
      },
      decline: (decline) => retryOnNextKernel((caller) => caller.approvals.decline(decline)),
    },
    refuse(reason, bytes) {
      void link
        .latest()
        .use(async (caller) => caller.refuse(reason, bytes))
        .catch(() => undefined);
    },
    takeNotice: () => link.takeNotice(),
  };
}

/** Waits for an approval request at one kernel; throws KERNEL_UNREACHABLE if that kernel ends meanwhile. */
async function waitForApprovalRequest(
  caller: McpCaller,
  { lost }: LinkedSession,
  ...[fits, signal]: Parameters<McpCaller["approvals"]["find"]>
): ReturnType<McpCaller["approvals"]["find"]> {
  const looking = caller.approvals.findForNotice(fits, AbortSignal.any([signal, lost]));
  const found = await looking.catch((error: unknown) => {
    if (!lost.aborted) throw error;
    return undefined;
  });
  if (found === undefined && !signal.aborted) throw new KernelError("KERNEL_UNREACHABLE", "the kernel goes");
  return found;
}

async function* toAsyncGenerator(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

function createNoResponseError(cause: Error): KernelError {
  const text =
    `${cause.message}; the call may have been carried out. ` +
    "Ask for exactly the same again to hear how it ended: it does not run twice";
  return new KernelError("KERNEL_UNREACHABLE", text, { cause });
}
