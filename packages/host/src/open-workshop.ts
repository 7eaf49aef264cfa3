import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { KernelError } from "@narthex/contracts";
import type { ContainedPrograms, HostExamination, WorkspaceFiles } from "@narthex/kernel";
import { createWorkspaceFiles, type WorkspaceFilesDriver } from "./files/create-workspace-files.ts";
import type { HomePaths } from "./home/home-paths.ts";
import { createPrograms } from "./programs/create-programs.ts";
import { DEFAULT_PROTECTED_PATHS } from "./programs/protected-paths.ts";
import { ProtectedWorkspace } from "./programs/protected-workspace.ts";
import { type Containment, openContainment } from "./sandbox/open-containment.ts";
import { findToolchains } from "./toolchains/find-toolchains.ts";

/** Where tools work on a host: its sandboxes, and what runs in them. */
export interface Workshop {
  readonly files: WorkspaceFiles;
  readonly programs: ContainedPrograms;
  readonly protectedPaths: readonly string[];
  examineHost(): Promise<HostExamination>;
  containment(): Promise<Containment>;
  close(): Promise<void>;
}

export interface WorkshopOptions {
  readonly paths: HomePaths;
  readonly protectedPaths?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
}

/** Makes nothing yet: the host is examined when something first rests on it. */
export function openWorkshop(options: WorkshopOptions): Workshop {
  const { paths, protectedPaths = DEFAULT_PROTECTED_PATHS, environment = process.env } = options;
  let opened: Promise<Containment> | undefined;
  let driver: WorkspaceFilesDriver | undefined;
  const containment = (): Promise<Containment> => (opened ??= openContainment({ directory: paths.sandbox }));

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

  const files: WorkspaceFiles = {
    prepare: (place, operation, signal) =>
      driver === undefined
        ? fileDriver().then((ready) => ready.prepare(place, operation, signal))
        : driver.prepare(place, operation, signal),
  };
  const programs = createPrograms({
    containment,
    cacheDirectory: paths.cache,
    protectedWorkspace: new ProtectedWorkspace(protectedPaths, files),
    findToolchains: (workspace, identity) =>
      findToolchains({
        path: environment["PATH"] ?? "",
        userHome: homedir(),
        kernelHome: paths.home,
        workspace,
        identity,
      }),
  });

  return {
    files,
    programs,
    protectedPaths,
    containment,
    examineHost: async () => describeHost(await containment()),
    async close() {
      await Promise.all([programs.close(), driver?.close()]);
    },
  };
}

/** Stands for the home in names of temporary files: only one kernel at a time has it. */
function ownerOf(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, 12);
}

function describeHost({ level, problem, selfTest, controlGroups }: Containment): HostExamination {
  const checks = Object.fromEntries((selfTest?.checks ?? []).map(({ name, holds }) => [name, holds]));
  const envelope = {
    level,
    control_groups: controlGroups ?? 0,
    checks,
    shell_backend: level === "L2" ? "disabled" : "sandbox",
    egress: "none",
    ...(problem !== undefined && { problem: problem.problem, fix: problem.fix }),
  };
  return { level, envelope: JSON.stringify(envelope) };
}
