import { EXIT_INTERRUPTED } from "./exit-code.ts";
import { isBrokenPipe } from "./broken-pipe.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  /** Whether the command ended because its output pipe was closed. */
  readonly endedByClosedOutput: boolean;
  stop(): void;
}

export interface InterruptionOptions {
  /** Whether a closed output pipe also ends the command: for commands that run until they are interrupted. */
  readonly endsOnClosedOutput: boolean;
}

/** The first SIGINT or SIGTERM asks the command to end, the second ends it at once. */
export function watchInterruption({ endsOnClosedOutput }: InterruptionOptions): Interruption {
  const controller = new AbortController();
  let endedByReader = false;
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    controller.abort();
  };
  const onOutputError = (error: Error): void => {
    if (!endsOnClosedOutput || !isBrokenPipe(error) || controller.signal.aborted) return;
    endedByReader = true;
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.stdout.on("error", onOutputError);
  return {
    signal: controller.signal,
    get endedByClosedOutput() {
      return endedByReader;
    },
    stop() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      process.stdout.off("error", onOutputError);
    },
  };
}
