import type { PlainCall } from "./plain-call.ts";

/** What the SDK puts around the result of a tool call; the rest is the call's own. */
const OWN_KEYS: ReadonlySet<string> = new Set(["content", "structuredContent", "isError"]);

/**
 * What of a call and its answer is the protocol's, once the SDK has taken and answered one. A later call of the same
 * connection that differs in nothing but id, tool and arguments passes the same checks, and its answer gets the same frame:
 * it needs the SDK no more.
 */
export class CallFrameMemory {
  #meta: string | undefined;
  #frame: object = {};

  /** That the SDK took this call and answered with this. */
  learn({ meta }: PlainCall, result: object): void {
    this.#meta = meta;
    this.#frame = Object.fromEntries(Object.entries(result).filter(([key]) => !OWN_KEYS.has(key)));
  }

  /** What clients are, and may do, was said anew. */
  forget(): void {
    this.#meta = undefined;
  }

  fits({ meta }: PlainCall): boolean {
    return meta === this.#meta;
  }

  /** The line that the SDK would have sent. */
  answer(id: string | number, result: object): string {
    return JSON.stringify({ result: { ...result, ...this.#frame }, jsonrpc: "2.0", id });
  }
}
