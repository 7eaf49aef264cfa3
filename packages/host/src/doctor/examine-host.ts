import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ShellBackend } from "@narthex/kernel";
import { findMachine, isMissing } from "../sandbox/find-machine.ts";
import { NamedPipes } from "../sandbox/named-pipes.ts";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import { SandboxFiles } from "../sandbox/sandbox-machine.ts";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import { startContained } from "../sandbox/start-contained.ts";
import { findToolchains } from "../toolchains/find-toolchains.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";
import { toolchainPath } from "../toolchains/toolchain-plan.ts";
import { fixSteps } from "./fix-steps.ts";
import type { HostReport, Mechanism, ToolClass } from "./host-report.ts";
import { judgeToolClasses, withShellBackend } from "./judge-tool-classes.ts";
import type { StartProgram } from "./run-probe.ts";
import { probeLimits } from "./probe-limits.ts";
import { probePrograms, probeToolchains } from "./probe-programs.ts";
import { probeWorkspace } from "./probe-workspace.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

export interface ExamineOptions {
  readonly kernelHome: string;
  readonly userHome: string;
  /** The PATH of the user. */
  readonly path: string;
  /** Directory in which a session would be opened. */
  readonly directory: string;
  /** Directories that are searched for bubblewrap. */
  readonly programs?: readonly string[];
  /** Configured shell backend; `sandbox` by default. */
  readonly shellBackend?: ShellBackend;
}

/**
 * Tries every mechanism for real. Takes no lock and writes nothing into the kernel's home, so it can run beside a
 * kernel.
 */
export async function examineHost(options: ExamineOptions): Promise<HostReport> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-doctor-"));
  try {
    return await examine(options, directory);
  } finally {
    await NamedPipes.at(join(directory, "pipes")).close();
    removeOwnTree(directory);
  }
}

async function examine(options: ExamineOptions, directory: string): Promise<HostReport> {
  const search = options.programs === undefined ? {} : { path: options.programs };
  const containment = await openContainment({ directory, ...search });
  const machine = await findMachine({ directory, ...search });
  const trial = await probeWorkspace({ ...options, containment });
  const { workspace, identity, access } = trial;
  const toolchains = await findToolchains({ ...options, ...(workspace !== undefined && { workspace }), identity });
  const startWatched: StartProgram = (plan, command) => {
    if (isMissing(machine)) return containment.start(plan, command);
    return startContained({ machine, files: new SandboxFiles(machine), groups: undefined }, plan, command);
  };
  const mechanisms = [
    ...toMechanisms(containment),
    ...(await probeSandbox(containment, { identity, toolchains, startWatched })),
    trial.mechanism,
  ];
  const { level, problem } = containment;
  const isRootOwned = workspace !== undefined && (await containment.identityFor(workspace)).reason !== undefined;
  const facts = { level, problem: problem?.problem, fix: problem?.fix, mechanisms };
  const contained = judgeToolClasses({ ...facts, access, isWorkspace: workspace !== undefined });
  const configured = options.shellBackend ?? "sandbox";
  const toolClasses = withShellBackend(contained, configured);
  return {
    level,
    problem: problem && `${problem.problem}: ${problem.fix}`,
    mechanisms,
    toolchains,
    path: toolchainPath(toolchains),
    toolClasses,
    shellBackend: effectiveBackend(configured, toolClasses),
    steps: fixSteps({
      ...facts,
      cause: problem?.cause,
      bubblewrap: isMissing(machine) ? "/usr/bin/bwrap" : machine.bubblewrap,
      rootOwned: isRootOwned ? workspace : undefined,
    }),
  };
}

/** Without containment only the `host` backend works. */
function effectiveBackend(configured: ShellBackend, toolClasses: readonly ToolClass[]): ShellBackend {
  const isContained = toolClasses.some(({ name, state }) => name === "shell" && state !== "disabled");
  return isContained || configured === "host" ? configured : "disabled";
}

/** Results of the checks made when the containment was opened. */
function toMechanisms({ problem, selfTest }: Containment): Mechanism[] {
  const hasStarted = selfTest !== undefined && selfTest.failure === undefined;
  const rows: Mechanism[] = [
    {
      name: "bubblewrap",
      how: "looked for, and for root's rights on it",
      state: selfTest === undefined ? "fails" : "holds",
      found: selfTest === undefined ? (problem?.problem ?? "") : "found, not setuid",
      advice: selfTest === undefined ? problem?.fix : undefined,
    },
    {
      name: "namespaces",
      how: "a sandbox started with the real options",
      state: selfTest === undefined ? "untried" : hasStarted ? "holds" : "fails",
      found: selfTest === undefined ? "" : hasStarted ? "started" : (problem?.problem ?? ""),
      advice: selfTest === undefined || hasStarted ? undefined : problem?.fix,
    },
  ];
  for (const { name, how, holds, found } of selfTest?.checks ?? []) {
    rows.push({ name, how, state: holds ? "holds" : "fails", found, advice: holds ? undefined : SELF_TEST_ADVICE });
  }
  return rows;
}

const SELF_TEST_ADVICE = "no program is run here; report this as a fault, with your system's name and version";

interface SandboxProbeOptions {
  readonly identity: SandboxIdentity;
  readonly toolchains: readonly Toolchain[];
  readonly startWatched: StartProgram;
}

async function probeSandbox(containment: Containment, trials: SandboxProbeOptions): Promise<Mechanism[]> {
  const { identity, toolchains, startWatched } = trials;
  if (containment.level === "L2") return [];
  return [
    ...(await probeLimits({ containment, startWatched, identity })),
    ...(await probePrograms(containment.start, identity)),
    await probeToolchains(containment.start, identity, toolchains),
  ];
}
