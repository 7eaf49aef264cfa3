import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { KernelError } from "@narthex/contracts";
import type {
  HostExamination,
  PageReader,
  SessionShells,
  ShellBackend,
  TrustedPaths,
  WasmRunner,
  WorkspaceFiles,
} from "@narthex/kernel";
import { describeEnvelope } from "./bootstrap/envelope.ts";
import { isolateFiles, withWorkspaceCheck, isolateToolchains } from "./bootstrap/vault-isolation.ts";
import { type OpenedVault, openVault } from "./bootstrap/open-vault.ts";
import { createWorkspaceFiles, type WorkspaceFilesDriver } from "./files/create-workspace-files.ts";
import { DEFAULT_SECRET_PATHS } from "./files/secret-paths.ts";
import type { HomePaths } from "./home/home-paths.ts";
import type { OwnCode } from "./own-code/own-code.ts";
import { createPageReader } from "./pages/create-page-reader.ts";
import { createPrograms, type ProgramsDriver, type ProgramsOptions } from "./programs/create-programs.ts";
import { GuardRecords } from "./programs/guard-records.ts";
import { ProtectedWorkspace } from "./programs/protected-workspace.ts";
import { StartedPrograms } from "./programs/started-programs.ts";
import { createRestoreProtected, TAKEN_PATHS } from "./programs/restore-protected.ts";
import { type Containment, openContainment } from "./sandbox/open-containment.ts";
import { DiskSpace } from "./storage/disk-space.ts";
import { withDiskReserve } from "./storage/with-disk-reserve.ts";
import { DEFAULT_STORAGE_LIMITS, type StorageLimits } from "./storage/storage-limits.ts";
import { createShells } from "./shells/create-shells.ts";
import { findToolchains } from "./toolchains/find-toolchains.ts";
import { DEFAULT_PROTECTED_PATHS } from "./trusted-paths/protected-names.ts";
import { userTrustSources } from "./trusted-paths/trust-sources.ts";
import { WorkspaceTrust } from "./trusted-paths/workspace-trust.ts";
import { createWasmRunner } from "./wasm/create-wasm-runner.ts";
import { removeOwnTree } from "./system/remove-own-tree.ts";

/** The environment in which tools run on a host: its sandboxes, and the services that use them. */
export interface ToolRuntime {
  readonly files: WorkspaceFiles;
  readonly programs: ProgramsDriver;
  readonly shells: SessionShells;
  readonly pages: PageReader;
  readonly wasm: WasmRunner;
  readonly protectedPaths: readonly string[];
  readonly trustedPaths: TrustedPaths;
  readonly secretPaths: readonly string[];
  readonly vault: OpenedVault | undefined;
  examineHost(): Promise<HostExamination>;
  containment(): Promise<Containment>;
  close(): Promise<void>;
}

export interface ToolRuntimeOptions {
  readonly paths: HomePaths;
  readonly protectedPaths?: readonly string[];
  readonly secretPaths?: readonly string[];
  /** Directory that only `vault_copyto` reads. */
  readonly vault?: string | undefined;
  readonly shellBackend?: ShellBackend;
  readonly storage?: StorageLimits;
  readonly environment?: NodeJS.ProcessEnv;
  /** Returns the PATH of the client of a session. If undefined, the PATH of this process is used. */
  readonly pathOf?: (sessionId: string) => Promise<string | undefined>;
  /** Directories that are searched for bubblewrap. */
  readonly programs?: readonly string[] | undefined;
  /** The kernel's own code, which is protected in every workspace that contains it. */
  readonly ownCode?: Pick<OwnCode, "inside">;
  /** Rejects a workspace on which a session was opened before this kernel started. */
  readonly checkWorkspace?: (workspace: string) => Promise<void>;
}

/** Creates a runtime without side effects: the host is examined at the first use. */
export function openToolRuntime(options: ToolRuntimeOptions): ToolRuntime {
  const {
    paths,
    protectedPaths: named = DEFAULT_PROTECTED_PATHS,
    secretPaths = DEFAULT_SECRET_PATHS,
    environment = process.env,
  } = options;
  const { shellBackend = "sandbox", storage = DEFAULT_STORAGE_LIMITS } = options;
  const protectedPaths = [...named, ...TAKEN_PATHS];
  const space = new DiskSpace(storage);
  let opened: Promise<Containment> | undefined;
  let driver: WorkspaceFilesDriver | undefined;
  const containment = (): Promise<Containment> =>
    (opened ??= openContainment({ directory: paths.sandbox, ...(options.programs && { path: options.programs }) }));

  async function fileDriver(): Promise<WorkspaceFilesDriver> {
    const { machine, problem } = await containment();
    if (machine === undefined) {
      throw new KernelError(
        "SANDBOX_UNAVAILABLE",
        `${problem?.problem ?? "nothing is contained here"}: ${problem?.fix}`,
      );
    }
    driver ??= createWorkspaceFiles({ machine, owner: ownerOf(paths.home) });
    return driver;
  }

  const plainFiles: WorkspaceFiles = {
    prepare: (place, operation, signal) =>
      driver === undefined
        ? fileDriver().then((ready) => ready.prepare(place, operation, signal))
        : driver.prepare(place, operation, signal),
  };
  const anyFiles = withDiskReserve(plainFiles, space, paths.home);
  const { vault: directory } = options;
  const vault = directory ? openVault({ directory, kernelHome: paths.home, files: anyFiles }) : undefined;
  const { checkWorkspace, ownCode } = options;
  const checked = checkWorkspace ? withWorkspaceCheck(anyFiles, checkWorkspace) : anyFiles;
  const files = vault ? isolateFiles(checked, vault) : checked;
  const toolchainsFor: ProgramsOptions["findToolchains"] = async ({ workspace, identity, path }) => {
    await checkWorkspace?.(workspace);
    return await findToolchains({
      path: path ?? environment["PATH"] ?? "",
      userHome: homedir(),
      kernelHome: paths.home,
      workspace,
      identity,
    });
  };
  const sources = userTrustSources(
    homedir(),
    environment,
    (workspace) => ownCode?.inside(workspace) ?? Promise.resolve([]),
  );
  const trustedPaths = new WorkspaceTrust(protectedPaths, sources, () => performance.now());
  const programs = createPrograms({
    containment,
    cacheDirectory: paths.cache,
    space,
    storage,
    started: new StartedPrograms(paths.programs),
    protectedWorkspace: new ProtectedWorkspace({
      paths: protectedPaths,
      restoreProtected: createRestoreProtected(containment),
      records: new GuardRecords(paths.guards),
      sources,
    }),
    findToolchains: vault ? isolateToolchains(toolchainsFor, vault) : toolchainsFor,
    ...(options.pathOf && { pathOf: options.pathOf }),
  });

  const pages = createPageReader({ containment });
  const wasm = createWasmRunner({ containment });
  const shells = createShells({ backend: shellBackend, containment, programs });

  return {
    files,
    programs,
    shells,
    pages,
    wasm,
    protectedPaths,
    trustedPaths,
    secretPaths,
    vault,
    containment,
    examineHost: async () => describeEnvelope({ containment: await containment(), shellBackend, vault }),
    async close() {
      await Promise.all([shells.close(), pages.close(), wasm.close()]);
      await Promise.all([programs.close(), driver?.close()]);
      await (await opened)?.close();
      if (opened !== undefined) removeOwnTree(paths.sandbox);
    },
  };
}

/** Identifies the home in names of temporary files. Only one kernel at a time uses a home. */
function ownerOf(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, 12);
}
