import type { MethodResult, Reader } from "./reader.ts";
import type { ReaderData, ReaderMethods } from "./reader-messages.ts";
import { createReaderMethods, describeProblem } from "./reader-methods.ts";
import { unreadable } from "./unreadable.ts";

/** Reads in the current thread, for short-lived programs: starting a thread takes longer than reading. */
export function createLocalReader(data: ReaderData): Reader {
  const methods = createReaderMethods(data);
  let isClosed = false;
  return {
    async ask<M extends keyof ReaderMethods>(
      method: M,
      ...args: Parameters<ReaderMethods[M]>
    ): Promise<MethodResult<M>> {
      if (isClosed) throw unreadable("it is closed");
      isClosed = method === "close";
      try {
        const answer = methods[method] as (...given: typeof args) => MethodResult<M> | Promise<MethodResult<M>>;
        return await answer(...args);
      } catch (error) {
        throw unreadable(describeProblem(data.directory, error));
      }
    },
    async terminate() {
      isClosed = true;
    },
  };
}
