import type { Logger } from "@narthex/kernel";
import { createKernelStarter, KernelStartError } from "../on-demand/kernel-starter.ts";
import { CommandError } from "../terminal/command-error.ts";
import { AttachError, attachKernel } from "./attach-kernel.ts";
import type { KernelLink } from "./kernel-link.ts";
import type { LinkTimeouts } from "./link-timeouts.ts";

export interface KernelFinderOptions {
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly allowOwnCode: boolean;
  /** Command file that kernels are started with; this package's by default. */
  readonly program?: string | undefined;
  readonly log: Logger;
  readonly times: LinkTimeouts;
  readonly signal: AbortSignal;
  /** Called when a kernel was found, or was started and is waited for: time for other work of this process. */
  onWait?(): void;
}

/** Finds the kernel of a home, and starts one if none runs. */
export interface KernelFinder {
  /** Returns undefined if no kernel responds that this client can use. */
  attach(): Promise<KernelLink | undefined>;
  /** Attaches to a kernel, starting one if necessary. Throws what prevents it. */
  find(): Promise<KernelLink>;
}

export function createKernelFinder(options: KernelFinderOptions): KernelFinder {
  const { home, environment, times, signal, log } = options;
  const starter = createKernelStarter(options);
  const path = environment["PATH"] ?? "";
  const attach = (acceptsOlder = false): Promise<KernelLink | undefined> =>
    attachKernel(home, { responseTimeoutMs: times.greetingMs, path, acceptsOlder });

  /** If a newer kernel cannot be started, uses the older one that is serving. */
  async function attachToOlder(failure: KernelStartError): Promise<KernelLink> {
    const older = await attach(true).catch(() => undefined);
    if (older === undefined) throw failure;
    log("warn", "going through an older kernel, because a newer one could not be started", { error: failure.message });
    return older;
  }

  return {
    attach: () => attach(),
    async find() {
      const deadline = performance.now() + times.startMs;
      let obstacle: Error | undefined;
      for (;;) {
        try {
          const found = await attach();
          if (found !== undefined) {
            options.onWait?.();
            return found;
          }
        } catch (error) {
          // A new kernel waits for one that is stopping.
          if (!(error instanceof AttachError) || !error.isStopping) throw error;
          obstacle = error;
        }
        if (performance.now() > deadline) throw obstacle ?? createTimeoutError(home);
        try {
          await starter.ensureStarting(signal);
        } catch (error) {
          if (error instanceof KernelStartError) return await attachToOlder(error);
          throw error;
        }
      }
    },
  };
}

function createTimeoutError(home: string): CommandError {
  return new CommandError("KERNEL_UNREACHABLE", `the kernel of \`${home}\` did not open its sockets in time`, {
    next: "see `run/kernel.log` in the home; `narthex serve` starts a kernel in a terminal",
  });
}
