import { KernelError } from "@narthex/contracts";
import { SERVER_LIMITS } from "./server-limits.ts";

/** Holds back the restarts of one server that keeps failing, whichever sessions ask for it. */
export class RestartBackoff {
  readonly #nowMs: () => number;
  #failures = 0;
  #untilMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Throws EXECUTION_FAILED while it is too soon. */
  verifyElapsed(server: string): void {
    const leftMs = Math.ceil(this.#untilMs - this.#nowMs());
    if (leftMs <= 0) return;
    throw new KernelError(
      "EXECUTION_FAILED",
      `the MCP server \`${server}\` has failed ${this.#failures} times in a row; it is started again in ${Math.ceil(leftMs / 1000)} s at the earliest`,
    );
  }

  /** After the first one it may be started again at once: a call in between may well have been the reason. */
  noteFailure(): void {
    this.#failures++;
    if (this.#failures < 2) return;
    const pauseMs = SERVER_LIMITS.firstPauseMs * 2 ** Math.min(this.#failures - 2, 20);
    this.#untilMs = this.#nowMs() + Math.min(pauseMs, SERVER_LIMITS.longestPauseMs);
  }

  noteSuccess(): void {
    this.#failures = 0;
    this.#untilMs = 0;
  }
}
