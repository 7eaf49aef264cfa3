import { homePaths, loadConfiguration } from "@narthex/host";
import { createBoundedLogger } from "../on-demand/bounded-logger.ts";
import { waitUntilIdle } from "../on-demand/wait-until-idle.ts";
import { acquireHomeOnDemand } from "../on-demand/acquire-home.ts";
import { openKernel } from "../open-kernel.ts";
import { usageError } from "../terminal/command-error.ts";
import { EXIT_OK, EXIT_UNAVAILABLE } from "../terminal/exit-code.ts";
import { createLineLogger } from "../terminal/line-logger.ts";
import type { Invocation } from "./command.ts";

/** Command name shown to other processes that ask which process holds the home. */
const COMMAND = "serve --on-demand";

/**
 * Runs a kernel that clients share and none of them owns. It ends once nothing has used it for `timeouts.idle_ms`, or
 * when another kernel takes its place. If a kernel is already serving, it exits at once with 0.
 */
export async function serveOnDemand(invocation: Invocation): Promise<number> {
  const { options, environment, home, signal } = invocation;
  if (options.text("listen") !== undefined || options.flag("first-session")) {
    throw usageError("--on-demand opens no port and no session", "leave out --listen and --first-session");
  }
  const append = createBoundedLogger(homePaths(home).kernelLog);
  const terminal = { ...invocation.terminal, note: (...lines: readonly string[]) => append(`${lines.join("\n")}\n`) };
  const log = createLineLogger(terminal, environment);
  const ended = Promise.withResolvers<{ readonly reason: string; readonly exitCode: number }>();
  const end = (reason: string, exitCode = EXIT_OK): void => ended.resolve({ reason, exitCode });
  const ownCode = options.flag("allow-own-code") ? "allow" : "refuse";
  const onFailure = (): void => end("the store failed", EXIT_UNAVAILABLE);
  const kernel = await acquireHomeOnDemand({
    home,
    signal,
    log,
    open: (waitMs) => openKernel({ data: home, command: COMMAND, onDemand: true, waitMs, log, ownCode, onFailure }),
    prepare: async () => void (await loadConfiguration(homePaths(home).configuration)),
  });
  if (kernel === undefined) return EXIT_OK;
  const { idleMs, shutdownMs } = kernel.configuration.timeouts;
  const closing = new AbortController();
  let exitCode = EXIT_OK;
  try {
    await kernel.openDoors([], (reason) => end(reason));
    log("info", "the kernel is open on the home", { home: kernel.home.path, process: process.pid });
    signal.addEventListener("abort", () => end("a signal"), { once: true });
    if (signal.aborted) end("a signal");
    void waitUntilIdle({ idleMs, signal: closing.signal, isInUse: () => kernel.isInUse() }).then(() =>
      end("no client was left"),
    );
    const { reason, exitCode: code } = await ended.promise;
    exitCode = code;
    log("info", "stopping: new calls are refused, running ones may finish", { reason });
  } finally {
    closing.abort();
    // A failed store cannot record anything, so running calls get no grace period: other processes need the home.
    await kernel.close({ graceMs: exitCode === EXIT_OK ? shutdownMs : 0 });
  }
  return exitCode;
}
