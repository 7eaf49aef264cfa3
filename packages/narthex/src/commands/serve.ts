import { homePaths, loadConfiguration, summariseEnvelope } from "@narthex/host";
import type { HostFacts } from "@narthex/kernel";
import type { Serving } from "@narthex/server";
import { acquireHomeForServe } from "../on-demand/acquire-home.ts";
import { type OpenedKernel, openKernel } from "../open-kernel.ts";
import { EXIT_OK, EXIT_UNAVAILABLE } from "../terminal/exit-code.ts";
import { createLineLogger } from "../terminal/line-logger.ts";
import type { Paint } from "../terminal/paint.ts";
import { renderFacts } from "../terminal/table.ts";
import { visible } from "../terminal/visible.ts";
import type { Command, Invocation } from "./command.ts";
import { explainListenError } from "./explain-listen-error.ts";
import { type FirstSession, openFirstSession } from "./first-session.ts";
import { OWN_CODE_OPTION } from "./own-code-option.ts";
import { formatListenAddress, parseListenAddress } from "./listen-address.ts";
import { formatCommandPrefix } from "./command-prefix.ts";

export const serveCommand: Command = {
  details:
    "Holds the home until SIGTERM or SIGINT; then calls that run get ten seconds (timeouts.shutdown_ms), and a second signal ends at once. " +
    "A kernel that a client started makes room for it. Only loopback is listened on. Logs go to the error stream, one line each.",
  options: [
    { flags: "--listen <host:port>", description: "where to offer the services (default: 127.0.0.1:7411)" },
    OWN_CODE_OPTION,
    {
      flags: "--on-demand",
      description: "as clients start it: only the home's sockets, and an end of its own once the last client has left",
    },
    { flags: "--first-session", description: "open a session on a fresh workspace, for trying things out" },
  ],
  examples: ["narthex serve --listen 127.0.0.1:7411 --first-session"],

  async run(invocation) {
    const { options, terminal, home, environment, signal } = invocation;
    if (options.flag("on-demand")) return (await import("./serve-on-demand.ts")).serveOnDemand(invocation);
    const asked = options.text("listen");
    const listen = asked === undefined ? undefined : parseListenAddress(asked);
    const log = createLineLogger(terminal, environment);
    const failure = Promise.withResolvers<Error>();
    const ownCode = options.flag("allow-own-code") ? "allow" : "refuse";
    const kernel = await acquireHomeForServe({
      home,
      signal,
      log,
      open: (waitMs) => openKernel({ data: home, command: "serve", waitMs, log, ownCode, onFailure: failure.resolve }),
      prepare: async () => void (await loadConfiguration(homePaths(home).configuration)),
    });
    for (const file of kernel.prepared) log("info", "wrote what the home did not have", { file });
    const graceMs = kernel.configuration.timeouts.shutdownMs;
    try {
      const doors = kernel.openDoors([listen ?? kernel.configuration.listen]);
      const addresses = await doors.catch((error: unknown) => {
        throw explainListenError(error, { isTyped: asked !== undefined, file: kernel.home.paths.configuration });
      });
      const first = options.flag("first-session") ? await openFirstSession(kernel, environment) : undefined;
      announce(invocation, kernel, { addresses, first, host: await kernel.examineHost() });
      const failed = await Promise.race([failure.promise, aborted(signal)]);
      if (failed === undefined) log("info", "stopping: new calls are refused, running ones may finish", { graceMs });
      else log("error", "the store failed and the kernel has stopped", { error: failed });
      return failed === undefined ? EXIT_OK : EXIT_UNAVAILABLE;
    } finally {
      await kernel.close({ graceMs });
    }
  },
};

interface Opened {
  readonly addresses: Serving["addresses"];
  readonly first: FirstSession | undefined;
  readonly host: HostFacts;
}

function announce(invocation: Invocation, kernel: OpenedKernel, { addresses, first, host }: Opened): void {
  const { terminal, home } = invocation;
  const { problem } = kernel.policyFacts();
  const { framed, services } = kernel.sockets;
  const address = addresses.services
    .flatMap((listen) => ("host" in listen ? [formatListenAddress(listen)] : []))
    .join();
  if (terminal.json) {
    terminal.printJsonLine({
      home,
      pid: process.pid,
      listen: address,
      services_socket: services,
      framed_socket: framed,
      console: addresses.consoleLink ?? "",
      containment: summariseEnvelope(host),
      policy_problem: problem,
      ...(first === undefined ? {} : { first_session: { session_id: first.sessionId, workspace: first.workspace } }),
    });
    return;
  }
  const narthex = formatCommandPrefix(invocation);
  const session = first === undefined ? " --session ID" : "";
  terminal.print(
    terminal.paint.bold(`the kernel is open on ${home}`),
    ...renderFacts([
      ["services", address],
      ["services", services],
      ["framed", framed],
      ...(addresses.consoleLink === undefined ? [] : ([["console", addresses.consoleLink]] as const)),
      ["containment", summariseEnvelope(host)],
      ...(first === undefined
        ? []
        : ([
            ["session", first.sessionId],
            ["workspace", first.workspace],
          ] as const)),
    ]).map((line) => `  ${line}`),
    "",
    ...(problem === "" ? [] : renderPolicyProblem(problem, narthex, terminal.paint)),
    "Try in another terminal:",
    ...(first === undefined ? [`  ${narthex} session open --workspace DIR`] : []),
    `  ${narthex} call echo '{"text":"hello"}'${session}`,
    `  ${narthex} watch`,
    `  ${narthex} console${" ".repeat(8)}another link to the web page: each works once, for ten minutes`,
    `  ${narthex} ledger verify`,
    "",
    "Ctrl-C stops it.",
  );
}

/** Warns about a missing policy, because such a kernel otherwise looks normal until its first call. */
function renderPolicyProblem(problem: string, narthex: string, paint: Paint): string[] {
  return [
    paint.red("NO POLICY IS IN FORCE: EVERY CALL IS DENIED"),
    `  ${visible(problem)}`,
    `  next: correct it, then run \`${narthex} policy check\` and \`${narthex} policy reload\``,
    "",
  ];
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}
