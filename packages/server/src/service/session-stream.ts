import { setMaxListeners } from "node:events";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { ToolResponse } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import { runRawMessage } from "./call-stream.ts";
import { toConnectError } from "./connect-error.ts";
import type { RawMessages } from "./raw-messages.ts";

export interface SessionStreamOptions {
  readonly kernel: Kernel;
  readonly raw: RawMessages;
  readonly context: HandlerContext;
  /** Maximum number of calls that run or whose responses the client has not read. */
  readonly maxCalls: number;
  /** Maximum total size of the requests of those calls; a larger one runs alone. */
  readonly maxBytes: number;
  /** Aborts when the door closes: nothing more is read, running calls get their responses. */
  readonly stopping: AbortSignal;
}

interface Answer {
  readonly response: ToolResponse;
  release(): void;
}

/** Runs `Session`: many calls over one stream, with responses in the order in which they are ready. */
export async function* runSessionStream(
  placeholders: AsyncIterable<unknown>,
  { kernel, raw, context, maxCalls, maxBytes, stopping }: SessionStreamOptions,
): AsyncGenerator<ToolResponse> {
  const answers: Answer[] = [];
  let held = 0;
  let heldBytes = 0;
  let reading = true;
  let gone = false;
  let fault: ConnectError | undefined;
  let wakeWriter: (() => void) | undefined;
  let wakeReader: (() => void) | undefined;

  setMaxListeners(0, context.signal);
  const wake = (): void => {
    wakeWriter?.();
    wakeReader?.();
  };
  stopping.addEventListener("abort", wake, { once: true });
  void read();

  async function read(): Promise<void> {
    const requests = placeholders[Symbol.asyncIterator]();
    try {
      while (!gone && !stopping.aborted && fault === undefined) {
        if (held >= maxCalls || heldBytes >= maxBytes) {
          await new Promise<void>((resolve) => (wakeReader = resolve));
          continue;
        }
        if ((await requests.next()).done === true) break;
        held++;
        void run();
      }
    } catch (error) {
      fault ??= toConnectError(error);
    }
    reading = false;
    wake();
  }

  async function run(): Promise<void> {
    const message = raw.take();
    heldBytes += message.size;
    const release = (): void => {
      message.release();
      held--;
      heldBytes -= message.size;
    };
    try {
      const response = await runRawMessage(kernel, message, context);
      if (gone) release();
      else answers.push({ response, release });
    } catch (error) {
      release();
      fault ??= toConnectError(error);
    }
    wake();
  }

  try {
    for (;;) {
      const answer = answers.shift();
      if (answer !== undefined) {
        yield answer.response;
        answer.release();
        wakeReader?.();
      } else if (held > 0) await new Promise<void>((resolve) => (wakeWriter = resolve));
      else if (fault !== undefined) throw fault;
      else if (stopping.aborted) throw new ConnectError("the kernel is shutting down", Code.Unavailable);
      else if (!reading) return;
      else await new Promise<void>((resolve) => (wakeWriter = resolve));
    }
  } finally {
    gone = true;
    stopping.removeEventListener("abort", wake);
    for (const answer of answers.splice(0)) answer.release();
    wakeReader?.();
  }
}
