import { EXIT_INTERRUPTED } from "./exit-code.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  stop(): void;
}

/** The first SIGINT or SIGTERM asks the command to end, the second ends it. Losing the reader asks too. */
export function watchInterruption(): Interruption {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    controller.abort();
  };
  const onOutputError = (error: Error): void => {
    if (!("code" in error) || error.code !== "EPIPE") throw error;
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.stdout.on("error", onOutputError);
  return {
    signal: controller.signal,
    stop() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
