import type { ToolContext } from "../tool/tool.ts";
import type { HostFunction } from "./host-functions.ts";
import type { HostFault } from "./wasm-runner.ts";

export type HostCallResult = Uint8Array | HostFault;

/** Maximum size of the request or the response of one host call. */
const MAX_HOST_CALL_BYTES = 16 * 1024 * 1024;
const MAX_RANDOM_BYTES = 65_536;
const MAX_LOG_BYTES = 1024 * 1024;
const HASH = /^[0-9a-f]{64}$/;
const NOTHING = new Uint8Array(0);
const LINE_END = Uint8Array.of(10);

/**
 * Host calls whose responses depend only on the session's seed, the call's number and content, so that a call gets the
 * same responses when it is replayed.
 */
export class SeededHostCalls {
  readonly #context: Pick<ToolContext, "nowMs" | "randomBytes" | "content">;
  readonly #hasClock: boolean;
  #lines: Uint8Array[] = [];
  #lineBytes = 0;

  constructor(context: Pick<ToolContext, "nowMs" | "randomBytes" | "content">, hasClock: boolean) {
    this.#context = context;
    this.#hasClock = hasClock;
  }

  handle(
    name: Extract<HostFunction, "log" | "clock" | "random" | "content_get" | "content_put">,
    request: Uint8Array,
  ): HostCallResult | Promise<HostCallResult> {
    switch (name) {
      case "log":
        return this.#takeLine(request);
      case "clock":
        return this.#tellTime();
      case "random":
        return this.#giveRandom(request);
      case "content_get":
        return this.#getContent(request);
      case "content_put":
        return this.#putContent(request);
    }
  }

  /** Returns the lines that the module has logged since the last call of this method. */
  takeLines(): readonly Uint8Array[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  #takeLine(request: Uint8Array): HostCallResult {
    if (this.#lineBytes + request.length + 1 > MAX_LOG_BYTES) return "too_large";
    this.#lineBytes += request.length + 1;
    this.#lines.push(request, LINE_END);
    return NOTHING;
  }

  #tellTime(): HostCallResult {
    if (!this.#hasClock) return "denied";
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(this.#context.nowMs()), true);
    return bytes;
  }

  #giveRandom(request: Uint8Array): HostCallResult {
    if (request.length !== 4) return "invalid";
    const length = new DataView(request.buffer, request.byteOffset).getUint32(0, true);
    return length > MAX_RANDOM_BYTES ? "too_large" : this.#context.randomBytes(length);
  }

  async #getContent(request: Uint8Array): Promise<HostCallResult> {
    const hash = new TextDecoder().decode(request);
    if (!HASH.test(hash)) return "invalid";
    const { size } = await this.#context.content.stat(hash);
    return size > MAX_HOST_CALL_BYTES ? "too_large" : await this.#context.content.read(hash, 0, size);
  }

  async #putContent(request: Uint8Array): Promise<HostCallResult> {
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      yield request;
    };
    const { hash } = await this.#context.content.keep(chunks());
    return Buffer.from(hash);
  }
}
