import { EXIT_INTERRUPTED } from "./exit-code.ts";
import { isReaderGone } from "./reader-gone.ts";

export interface Interruption {
  readonly signal: AbortSignal;
  /** Whether the output's reader left and that ended the command. */
  readonly endedByReader: boolean;
  stop(): void;
}

export interface InterruptionOptions {
  /** Losing the output's reader asks the command to end too: for commands that run until they are interrupted. */
  readonly endsWithReader: boolean;
}

/** The first SIGINT or SIGTERM asks the command to end, the second ends it. */
export function watchInterruption({ endsWithReader }: InterruptionOptions): Interruption {
  const controller = new AbortController();
  let endedByReader = false;
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    controller.abort();
  };
  const onOutputError = (error: Error): void => {
    if (!endsWithReader || !isReaderGone(error) || controller.signal.aborted) return;
    endedByReader = true;
    controller.abort();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  process.stdout.on("error", onOutputError);
  return {
    signal: controller.signal,
    get endedByReader() {
      return endedByReader;
    },
    stop() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
      process.stdout.off("error", onOutputError);
    },
  };
}
