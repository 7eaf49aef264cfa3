import { createClient, type Transport } from "@connectrpc/connect";
import { KernelService, type ToolRequest, type ToolResponse } from "@narthex/contracts";

export interface SessionStream {
  call(request: ToolRequest): Promise<ToolResponse>;
  close(): Promise<void>;
}

/** Many calls over one `Session` stream, each answer given to whoever asked. */
export function openSessionStream(transport: Transport): SessionStream {
  const waiting = new Map<string, PromiseWithResolvers<ToolResponse>>();
  const outgoing: ToolRequest[] = [];
  let wake: (() => void) | undefined;
  let closed = false;

  async function* requests(): AsyncGenerator<ToolRequest> {
    for (;;) {
      const request = outgoing.shift();
      if (request !== undefined) yield request;
      else if (closed) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  async function receive(): Promise<void> {
    try {
      for await (const response of createClient(KernelService, transport).session(requests())) {
        waiting.get(response.requestId)?.resolve(response);
        waiting.delete(response.requestId);
      }
      throw new Error("the stream has ended");
    } catch (error) {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    }
  }

  const receiving = receive();
  return {
    call(request) {
      const answer = Promise.withResolvers<ToolResponse>();
      waiting.set(request.requestId, answer);
      outgoing.push(request);
      wake?.();
      return answer.promise;
    },
    async close() {
      closed = true;
      wake?.();
      await receiving;
    },
  };
}
