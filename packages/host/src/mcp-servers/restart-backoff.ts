import { KernelError } from "@narthex/contracts";
import { SERVER_LIMITS } from "./server-limits.ts";

/** Delays restarts of a server that keeps failing, across all sessions. */
export class RestartBackoff {
  readonly #nowMs: () => number;
  #failures = 0;
  #untilMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Throws EXECUTION_FAILED until the delay has passed. */
  verifyElapsed(server: string): void {
    const leftMs = Math.ceil(this.#untilMs - this.#nowMs());
    if (leftMs <= 0) return;
    throw new KernelError(
      "EXECUTION_FAILED",
      `the MCP server \`${server}\` has failed ${this.#failures} times in a row; it is started again in ${Math.ceil(leftMs / 1000)} s at the earliest`,
    );
  }

  /** The first failure causes no delay, because the call may have been the reason. */
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
