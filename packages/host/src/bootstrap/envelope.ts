import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { HostExamination, ShellBackend, ToolDeclaration, ToolReadiness } from "@narthex/kernel";
import type { Mechanism, ToolClass } from "../doctor/host-report.ts";
import { judgeToolClasses, withShellBackend } from "../doctor/judge-tool-classes.ts";
import type { Containment } from "../sandbox/open-containment.ts";
import { DEFAULT_LIMITS, HOME_PATH, SCRATCH_PATH, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { findRipgrep } from "../search/find-ripgrep.ts";
import type { OpenedVault } from "./open-vault.ts";

export interface EnvelopeParts {
  readonly containment: Containment;
  readonly shellBackend: ShellBackend;
  readonly vault: OpenedVault | undefined;
}

/** A class of tools as sessions see it: one of the doctor's classes, or the vault. */
interface EnvelopeClass extends Omit<ToolClass, "name"> {
  readonly name: ToolClass["name"] | "vault" | "programs" | "wasm";
}

/**
 * Describes what sessions of this kernel get: containment level, shell backend, mounts, egress, limits, and which tools
 * can run.
 */
export async function describeEnvelope({ containment, shellBackend, vault }: EnvelopeParts): Promise<HostExamination> {
  const { level, problem, selfTest, controlGroups } = containment;
  const found = { level, problem: problem?.problem, fix: problem?.fix, mechanisms: await findPrograms() };
  const judged = judgeToolClasses({ ...found, access: "write", isWorkspace: false });
  const isBare = shellBackend === "host";
  const classes: EnvelopeClass[] = [
    ...withShellBackend(judged, shellBackend),
    deriveProgramsClass(judged),
    deriveModulesClass(judged),
    await judgeVault(vault, judged),
  ];
  const envelope = {
    level,
    control_groups: controlGroups ?? 0,
    checks: Object.fromEntries((selfTest?.checks ?? []).map(({ name, holds }) => [name, holds])),
    shell_backend: level === "L2" && !isBare ? "disabled" : shellBackend,
    mounts: MOUNTS,
    egress: "gate",
    limits: {
      cpu_seconds: DEFAULT_LIMITS.cpuMs / 1000,
      memory_bytes: DEFAULT_LIMITS.memoryBytes,
      processes: DEFAULT_LIMITS.processes,
      open_files: DEFAULT_LIMITS.openFiles,
      file_bytes: DEFAULT_LIMITS.fileBytes,
    },
    tool_classes: classes.map(({ name, state, reasons, fix }) => ({ name, state, reasons, fix: fix ?? "" })),
    ...(problem !== undefined && { problem: problem.problem, fix: problem.fix }),
  };
  return { level, envelope: JSON.stringify(envelope), stateOf: (tool) => readinessOf(tool, classes) };
}

/** Summarises an envelope in one line for people. */
export function summariseEnvelope({ level, envelope }: Pick<HostExamination, "level" | "envelope">): string {
  const { shell_backend: backend, problem } = JSON.parse(envelope) as { shell_backend: string; problem?: string };
  return `${level}, shell backend ${backend}${problem === undefined ? "" : ` (${problem})`}`;
}

/** What each class of tools sees besides the programs of the system. Nothing else exists inside the sandbox. */
const MOUNTS = {
  file_read: [`${WORKSPACE_PATH} read`],
  file_write: [`${WORKSPACE_PATH} write`],
  shell: [
    `${WORKSPACE_PATH} write, protected paths read`,
    `${HOME_PATH} write`,
    `${SCRATCH_PATH} write`,
    "toolchains read",
  ],
  git: [`${WORKSPACE_PATH} write, configuration and hooks of repositories read`, "toolchains read"],
  vault_read: ["the vault read"],
  vault_place: [`${WORKSPACE_PATH} write`],
  wasm: [],
};

/** Checks only what can be seen without a sandbox; `narthex doctor` tries everything. */
async function findPrograms(): Promise<Mechanism[]> {
  const git = await isThere("/usr/bin/git");
  const ripgrep = await findRipgrep().then(isThere, () => false);
  return [
    mechanism("git", git, "git is not installed", "apt-get install git"),
    mechanism("perl", await isThere("/usr/bin/perl"), "perl is not installed", "apt-get install perl-base"),
    mechanism("ripgrep", ripgrep, "the ripgrep of the package is missing", "install the package again"),
  ];
}

function mechanism(name: string, holds: boolean, found: string, advice: string): Mechanism {
  const state = holds ? "holds" : "fails";
  return { name, state, how: "looked for", found: holds ? "found" : found, advice: holds ? undefined : advice };
}

/** Third-party programs have the same requirements as the shell. */
function deriveProgramsClass(judged: readonly ToolClass[]): EnvelopeClass {
  const shell = judged.find(({ name }) => name === "shell");
  return { state: "ready", reasons: [], fix: undefined, ...shell, name: "programs" };
}

/** Modules need the sandbox and Node in it, like file tools. */
function deriveModulesClass(judged: readonly ToolClass[]): EnvelopeClass {
  const files = judged.find(({ name }) => name === "files");
  if (files?.state === "disabled") return { ...files, name: "wasm" };
  return { name: "wasm", state: "ready", reasons: [], fix: undefined };
}

async function judgeVault(vault: OpenedVault | undefined, judged: readonly ToolClass[]): Promise<EnvelopeClass> {
  const files = judged.find(({ name }) => name === "files");
  if (files?.state === "disabled") return { ...files, name: "vault" };
  const fix = "name its directory as `vault` in narthex.yaml";
  if (vault === undefined) return { name: "vault", state: "disabled", reasons: ["this kernel has no vault"], fix };
  const closed = await vault.findAccessProblem();
  if (closed === undefined) return { name: "vault", state: "ready", reasons: [], fix: undefined };
  return { name: "vault", state: "degraded", reasons: [closed], fix: undefined };
}

/** Tools that do not use a sandbox are always ready. */
function readinessOf(tool: ToolDeclaration, classes: readonly EnvelopeClass[]): ToolReadiness {
  const name = classOf(tool);
  const found = classes.find((one) => one.name === name);
  if (found === undefined || found.state === "ready") return { state: "ready", reason: "" };
  const reasons = found.reasons.join("; ");
  return { state: found.state, reason: found.fix === undefined ? reasons : `${reasons}: ${found.fix}` };
}

function classOf({ name, source, isolation }: ToolDeclaration): EnvelopeClass["name"] | undefined {
  if (isolation === "mcp") return "programs";
  if (isolation === "wasm") return "wasm";
  if (isolation !== "worker" && isolation !== "process") return undefined;
  if (source !== "builtin") return "programs";
  if (name.startsWith("vault_")) return "vault";
  if (name.startsWith("shell_")) return "shell";
  return name === "git" ? "git" : "files";
}

async function isThere(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
