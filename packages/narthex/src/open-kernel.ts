import {
  backUpHome,
  type Configuration,
  createMerklePublication,
  createSystemRandom,
  defaultHomePath,
  type Home,
  handOverWorkspace,
  disablePretenuring,
  loadConfiguration,
  openContentFiles,
  type McpServers,
  type OpenedGate,
  openHome,
  openRedactionKey,
  openSigningKeys,
  openLedgerStore,
  openToolRuntime,
  resolveWorkspace,
  schemaForTools,
  type SocketPaths,
  storeUnavailable,
  systemClock,
  type TokenScope,
  type ToolRuntime,
} from "@narthex/host";
import { KernelError } from "@narthex/contracts";
import {
  type Approver,
  checkOptions,
  type Clock,
  type ContentStore,
  type Kernel,
  type Logger,
  type Observer,
  startKernel,
  type Tool,
  type LedgerStore,
} from "@narthex/kernel";
import type { ExportLedger, Replay, ServiceListen, Serving } from "@narthex/server";
import { createSessionAttendance, type SessionAttendance } from "@narthex/server/session-attendance";
import type { LedgerSource } from "@narthex/verify";
import { formatNarthexCommand } from "./connect/narthex-command.ts";
import { createApprovedRules } from "./approved-rules.ts";
import { createConfiguredBuiltins } from "./configured-builtins.ts";
import { loadHomeAddedTools } from "./home-tools.ts";
import { openHomeMcpServers } from "./home-mcp-servers.ts";
import { openHomeGate } from "./open-home-gate.ts";
import { createStoreLedgerSource } from "./ledger-source.ts";
import { createOwnCodeCheck, locateOwnCode, type OwnCodeMode } from "./own-code.ts";
import { type HomePolicy, openPolicy } from "./open-policy.ts";
import { openAttendedSessionsFile } from "./on-demand/attended-sessions-file.ts";
import { prepareHome } from "./prepare-home.ts";
import { streamWithoutErasure } from "./stream-without-erasure.ts";
import { startTelemetry } from "./telemetry/start-telemetry.ts";
import { VERSION } from "./version.ts";
import { WIRE_PROTOCOL } from "./wire-protocol.ts";

export interface OpenKernelOptions {
  /** The kernel's home; `NARTHEX_DATA` or `~/.narthex` by default. */
  readonly data?: string;
  /** How long to wait for another process to release the home. */
  readonly waitMs?: number;
  /** Shown to other processes that find the home taken. */
  readonly command?: string;
  /** Started by a client and shared with others: gives way to `serve` and to a higher version. */
  readonly onDemand?: boolean;
  /** For a program that makes a few calls and ends: it opens faster, and waits for the disk itself. */
  readonly isBrief?: boolean;
  /** In addition to the built-in ones. */
  readonly tools?: readonly Tool[];
  /** Rules in addition to those of the home's policy directory, as Cedar text. */
  readonly policies?: readonly { readonly name: string; readonly text: string }[];
  readonly approver?: Approver;
  /** Directories in which bubblewrap is searched for; those of the system by default. */
  readonly sandboxPrograms?: readonly string[];
  readonly observer?: Observer;
  readonly log?: Logger;
  /**
   * What happens if a session's workspace holds the code of this kernel: a warning by default. `session.own_code` in
   * the configuration can also set `allow`.
   */
  readonly ownCode?: OwnCodeMode;
  /** Called for rules that do not do what they say; logged by default. */
  readonly onPolicyWarning?: (warning: string) => void;
  /** Called once if the store fails; the kernel has then stopped. */
  readonly onFailure?: (failure: Error) => void;
}

/** Responses to calls that were cancelled at the end of the grace period still have to be sent. */
const FINAL_RESPONSES_MS = 2000;
/** Longer than the interval at which a client looks for the next kernel. */
const RECONNECT_GRACE_MS = 60_000;

/** A kernel that holds its home. */
export interface OpenedKernel extends Kernel {
  readonly home: Home;
  readonly configuration: Configuration;
  /** Files that were written into a new home. */
  readonly prepared: readonly string[];
  /** Returns the scope of a bearer token of the home; undefined for an unknown token. */
  authorizeToken(token: string): Promise<{ readonly scope: TokenScope } | undefined>;
  /** For `verifyLedger`. */
  ledgerSource(): LedgerSource;
  /** Replays recorded sessions with the tools that this kernel has. Has no effects and records nothing. */
  readonly replay: Replay;
  /** Exports the ledger, or one session of it, as the bytes of a bundle. */
  readonly exportLedger: ExportLedger;
  readonly sockets: SocketPaths;
  /**
   * Opens the framed socket and the services socket, so that commands on this home use this kernel, and all further
   * requested services. Closed with the kernel.
   */
  openDoors(services?: readonly ServiceListen[], stop?: (reason: string) => void): Promise<Serving["addresses"]>;
  /** Whether a client is connected, or may come back to its session. */
  isInUse(): boolean;
}

/** Acquires the home, sets it up if it is new, and starts a kernel on its embedded store. */
export async function openKernel(options: OpenKernelOptions = {}, clock: Clock = systemClock): Promise<OpenedKernel> {
  const home = await openHome({
    path: options.data ?? defaultHomePath(process.env),
    command: options.command ?? "narthex",
    version: VERSION,
    protocol: WIRE_PROTOCOL,
    onDemand: options.onDemand ?? false,
    waitMs: options.waitMs ?? 0,
  });
  try {
    return await startInHome(home, options, clock);
  } catch (fault) {
    // On a disk that cannot be written, closing fails as well; the error from the start is more useful.
    await home.close().catch(() => undefined);
    throw fault;
  }
}

async function startInHome(home: Home, options: OpenKernelOptions, clock: Clock): Promise<OpenedKernel> {
  const { paths } = home;
  const startedAtMs = systemClock.nowMs();
  const prepared = await prepareHome(paths).catch((fault: unknown) => {
    throw storeUnavailable("the home cannot be set up", fault);
  });
  const configuration = await loadConfiguration(paths.configuration);
  const { protectedPaths, secretPaths, vault, shell, session, storage } = configuration;
  const ownCode = locateOwnCode(process.env);
  const mode = session.ownCode === "allow" ? "allow" : (options.ownCode ?? "warn");
  const checkOwnCode = createOwnCodeCheck({ ownCode, mode, log: options.log });
  const attended = openAttendedSessionsFile(paths.connectedSessions);
  const attendance: SessionAttendance = createSessionAttendance(() => running(), {
    onChange: (sessionIds) => attended.write(sessionIds),
    log: options.log,
  });
  const workshop = openToolRuntime({
    paths,
    pathOf: (sessionId) => attendance.findPath(sessionId),
    protectedPaths,
    secretPaths,
    vault,
    shellBackend: shell.backend,
    storage,
    programs: options.sandboxPrograms,
    ownCode,
    checkWorkspace: checkOwnCode,
  });
  const gate = await openHomeGate(configuration, process.env);
  const contentStore = await openContentFiles(paths.content);
  const store = await openLedgerStore({ paths, isSingleThreaded: options.isBrief ?? false });
  const telemetry = await startTelemetry(process.env, options.log);
  const builtins = createConfiguredBuiltins(configuration);
  let opened: Kernel | undefined;
  function running(): Kernel {
    if (opened === undefined) throw new KernelError("INTERNAL", "the kernel has not been started yet");
    return opened;
  }
  let servers: McpServers | undefined;
  try {
    const own = { environment: process.env, tools: options.tools, log: options.log };
    const { tools: stored, unusable } = await loadHomeAddedTools(home, configuration, own);
    const added = [...stored, ...(options.tools ?? [])];
    servers = await openHomeMcpServers(home, configuration, workshop, gate, added, options.log);
    const tools = [...builtins, ...added, ...servers.tools];
    const policy = openPolicy(paths, {
      tools,
      schemaFor: (known) => schemaForTools(known, unusable),
      embeddedFiles: options.policies ?? [],
      warn: options.onPolicyWarning ?? ((warning) => options.log?.("warn", warning)),
    });
    const observer = combineObservers(options.observer, telemetry?.observer);
    const kernel = await start(
      { home, configuration, policy, store, contentStore, workshop, gate, servers, tools, clock, checkOwnCode },
      { ...options, ...(observer && { observer }) },
    );
    opened = kernel;
    const authorizeToken: OpenedKernel["authorizeToken"] = async (token) => home.tokens.authorize(token);
    const ledgerSource = (): LedgerSource => createStoreLedgerSource(store, contentStore, paths.merkle);
    const { redactors } = gate;
    const replay: Replay = async function* (asked, signal) {
      const { createStoreReplay } = await import("./replay/store-replay.ts");
      const { programs, wasm } = workshop;
      const logDirectory = paths.merkle;
      const again = createStoreReplay({
        store,
        contentStore,
        merkleDirectory: logDirectory,
        tools,
        redactors,
        programs,
        wasm,
      });
      yield* streamWithoutErasure(kernel, () => again(asked, signal));
    };
    const exportLedger: ExportLedger = async function* (sessionId, signal) {
      const { createStoreExport } = await import("./bundle/store-export.ts");
      yield* streamWithoutErasure(kernel, () =>
        createStoreExport(store, contentStore, paths.merkle)(sessionId, signal),
      );
    };
    let doors: Serving | undefined;
    return {
      ...kernel,
      // Spreading the object would evaluate the getter once.
      get closing() {
        return kernel.closing;
      },
      home,
      configuration,
      prepared: prepared.written,
      sockets: home.sockets,
      authorizeToken,
      ledgerSource,
      replay,
      exportLedger,
      async openDoors(services = [], stop) {
        const { openDoors } = await import("./open-doors.ts");
        await kernel.announce();
        const { sockets } = home;
        const { limits, mcp, timeouts } = configuration;
        const { approvalWaitMs } = timeouts;
        const reading = { ledgerSource, replay, exportLedger };
        const { log, command = "narthex" } = options;
        const holder = { command, startedAtMs, stop };
        const shared = {
          sockets,
          services,
          limits,
          mcp,
          approvalWaitMs,
          authorizeToken,
          attendance,
          holder,
          ...reading,
          log,
        };
        const left = await attended.read();
        doors = await openDoors(kernel, shared);
        // These clients were told that their kernel ended: those still alive reconnect at once.
        for (const sessionId of left) attendance.expect(sessionId, RECONNECT_GRACE_MS);
        return doors.addresses;
      },
      isInUse: () => !attendance.isEmpty || (doors?.connections() ?? 0) > 0,
      async close(closing = {}) {
        checkOptions(closing, { graceMs: "amount?" }, "close");
        const { graceMs = configuration.timeouts.shutdownMs } = closing;
        await Promise.all([kernel.close({ graceMs }), doors?.close({ graceMs: graceMs + FINAL_RESPONSES_MS })]);
        await servers?.close();
        await Promise.all([workshop.close(), gate.gate.close(), telemetry?.close(), attended.flush()]);
        await home.close();
      },
    };
  } catch (fault) {
    await servers?.close();
    await Promise.all([store.close(), workshop.close(), gate.gate.close(), telemetry?.close()]);
    throw fault;
  }
}

function combineObservers(first: Observer | undefined, second: Observer | undefined): Observer | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return {
    stage(event) {
      first.stage(event);
      second.stage(event);
    },
  };
}

interface HomeParts {
  readonly home: Home;
  readonly configuration: Configuration;
  readonly policy: HomePolicy;
  readonly store: LedgerStore;
  readonly contentStore: ContentStore;
  readonly workshop: ToolRuntime;
  readonly gate: OpenedGate;
  readonly servers: McpServers;
  readonly tools: readonly Tool[];
  readonly clock: Clock;
  checkOwnCode(workspace: string): Promise<void>;
}

async function start(parts: HomeParts, options: OpenKernelOptions): Promise<Kernel> {
  const { home, configuration, policy, store, contentStore, workshop, gate, servers, tools, clock, checkOwnCode } =
    parts;
  const { session, timeouts, retention } = configuration;
  disablePretenuring();
  const kernel: Kernel = await startKernel({
    store,
    contentStore,
    clock,
    random: createSystemRandom(),
    policy: await policy.loadOrDenyAll(),
    policySource: policy,
    policyMode: configuration.policy.mode,
    rules: createApprovedRules(home.paths.policy, () => kernel),
    tools,
    watchTools: (report) => servers.watch(report),
    files: workshop.files,
    programs: workshop.programs,
    shells: servers.endWithShells(workshop.shells),
    protectedPaths: workshop.protectedPaths,
    trustedPaths: workshop.trustedPaths,
    secretPaths: workshop.secretPaths,
    vault: workshop.vault,
    pages: workshop.pages,
    wasm: workshop.wasm,
    egress: gate.gate,
    egressCredentials: gate.credentials,
    secretNames: gate.secretNames,
    redactors: gate.redactors,
    ...((gate.redactors.length > 0 || configuration.vault !== undefined) && {
      redactionKey: await openRedactionKey(home.paths.keys),
    }),
    examineHost: () => workshop.examineHost(),
    approver: options.approver,
    observer: options.observer,
    logger: options.log,
    commandName: formatNarthexCommand(process.env, home.path),
    version: VERSION,
    merkle: {
      tree: store.tree,
      keys: openSigningKeys(home.paths.keys),
      publication: createMerklePublication(home.paths.merkle),
    },
    async resolveWorkspace(workspace) {
      const real = await resolveWorkspace(workspace, {
        home: home.path,
        findVaultConflict: workshop.vault?.findConflict,
      });
      await checkOwnCode(real);
      return real;
    },
    adoptWorkspace: (workspace) => handOverWorkspace(workspace, options.log),
    copyHome: async (copying) => {
      const { verifyCopy } = await import("./verify-copy.ts");
      return backUpHome(copying, {
        paths: home.paths,
        version: VERSION,
        nowMs: () => clock.nowMs(),
        copyRecords: (target) => store.copyTo(target),
        verify: (paths) => verifyCopy(paths, options.isBrief === true),
      });
    },
    ...(options.onFailure && { onFailure: options.onFailure }),
    settings: {
      budgets: configuration.budgets,
      maxStoredBytes: configuration.storage.sessionBytes,
      hosts: configuration.network.hosts,
      sessionTtlMs: session.ttlMs,
      approvalExpiryMs: timeouts.approvalMs,
      approvalWaitMs: timeouts.approvalWaitMs,
      viewBytes: configuration.viewBytes,
      checkpoints: configuration.checkpoints,
      retention: { maxAgeMs: retention.maxAgeMs, maxBytes: retention.maxBytes },
      // A short-lived program leaves retention to long-running kernels.
      retentionEveryMs: options.isBrief === true ? 0 : retention.everyMs,
      quarantine: { limit: session.quarantine.violations, windowMs: session.quarantine.windowMs },
    },
  });
  return kernel;
}
