import { type OpenedKernel, openKernel } from "../open-kernel.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { createLineLog } from "../terminal/log-lines.ts";
import { renderFacts } from "../terminal/table.ts";
import type { Command, Invocation } from "./command.ts";
import { type FirstSession, openFirstSession } from "./first-session.ts";
import { formatListenAddress, type ListenAddress, parseListenAddress } from "./listen-address.ts";

const DEFAULT_LISTEN = "127.0.0.1:7411";
/** How long calls that run may go on after the kernel was told to stop. */
const GRACE_MS = 10_000;
/** Answers to calls that were cancelled at the end of it still have to get out. */
const DOOR_GRACE_MS = GRACE_MS + 2000;

export const serveCommand: Command = {
  details:
    "Holds the home until SIGTERM or SIGINT; then calls that run get ten seconds, and a second signal ends at once. " +
    "Listening beyond loopback needs TLS in the configuration. Logs go to the error stream, one line each.",
  options: [
    { flags: "--listen <host:port>", description: `where to offer the services (default: ${DEFAULT_LISTEN})` },
    { flags: "--first-session", description: "open a session on a fresh workspace, for trying things out" },
  ],
  examples: ["narthex serve --listen 127.0.0.1:7411 --first-session"],

  async run(invocation) {
    const { options, terminal, signal } = invocation;
    const listen = parseListenAddress(options.text("listen") ?? DEFAULT_LISTEN);
    const log = createLineLog(terminal, invocation.environment);
    const kernel = await openKernel({ data: invocation.home, command: "serve", log });
    try {
      await kernel.openUnixDoors();
      const [{ serve }, { doorPowers }] = await Promise.all([import("@narthex/server"), import("../unix-doors.ts")]);
      const doors = await serve(kernel, { services: [listen], ...doorPowers({ ...kernel, log }) });
      const [opened] = doors.addresses.services;
      const address = opened !== undefined && "host" in opened ? opened : listen;
      const first = options.flag("first-session") ? await openFirstSession(kernel, invocation.environment) : undefined;
      announce(invocation, kernel, address, first);
      await aborted(signal);
      log("info", "stopping: new calls are refused, running ones get ten seconds");
      await Promise.all([kernel.close({ graceMs: GRACE_MS }), doors.close({ graceMs: DOOR_GRACE_MS })]);
      return EXIT_OK;
    } catch (error) {
      await kernel.close({ graceMs: 0 });
      throw error;
    }
  },
};

function announce(
  { terminal, home, options, environment }: Invocation,
  kernel: OpenedKernel,
  address: ListenAddress,
  first: FirstSession | undefined,
): void {
  const { framed, services } = kernel.sockets;
  if (terminal.json) {
    terminal.printJsonLine({
      home,
      pid: process.pid,
      listen: formatListenAddress(address),
      services_socket: services,
      framed_socket: framed,
      ...(first === undefined ? {} : { first_session: { session_id: first.sessionId, workspace: first.workspace } }),
    });
    return;
  }
  const elsewhere = options.text("data") !== undefined && environment["NARTHEX_DATA"] === undefined;
  const narthex = elsewhere ? `narthex --data ${home}` : "narthex";
  const session = first === undefined ? " --session ID" : "";
  terminal.print(
    terminal.paint.bold(`the kernel is open on ${home}`),
    ...renderFacts([
      ["services", formatListenAddress(address)],
      ["services", services],
      ["framed", framed],
      ...(first === undefined ? [] : ([["session", first.sessionId], ["workspace", first.workspace]] as const)),
    ]).map((line) => `  ${line}`),
    "",
    "Try in another terminal:",
    ...(first === undefined ? [`  ${narthex} session open --workspace DIR`] : []),
    `  ${narthex} call echo '{"text":"hello"}'${session}`,
    `  ${narthex} watch`,
    `  ${narthex} ledger verify`,
    "",
    "Ctrl-C stops it.",
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
