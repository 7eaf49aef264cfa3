import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findMachine, isMissing } from "../find-machine.ts";
import { readAll } from "../read-all.ts";
import { SandboxFiles, type SandboxMachine } from "../sandbox-machine.ts";
import { DEFAULT_LIMITS, type SandboxIdentity, type SandboxPlan, WORKSPACE_PATH } from "../sandbox-plan.ts";
import { type BeforeRelease, type SandboxedProcess, spawnSandbox } from "../spawn-sandbox.ts";

export interface SandboxEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real sandbox with its own workspace. */
export interface TestSandbox {
  readonly machine: SandboxMachine;
  readonly files: SandboxFiles;
  readonly identity: SandboxIdentity;
  readonly workspace: string;
  readonly plan: SandboxPlan;
  start(
    command: readonly string[],
    plan?: Partial<SandboxPlan>,
    beforeRelease?: BeforeRelease,
  ): Promise<SandboxedProcess>;
  run(script: string, plan?: Partial<SandboxPlan>): Promise<SandboxEnd>;
  remove(): Promise<void>;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** An arbitrary uid that gets a workspace created by root. */
const OTHER_UID = 1000;

export async function createTestSandbox(): Promise<TestSandbox> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-sandbox-"));
  const workspace = await mkdtemp(join(tmpdir(), "narthex-workspace-"));
  const machine = await findMachine({ directory });
  if (isMissing(machine)) throw new Error(`${machine.problem}: ${machine.fix}`);
  const isRoot = process.getuid?.() === 0;
  const uid = isRoot ? OTHER_UID : (process.getuid?.() ?? OTHER_UID);
  const identity = { uid, gid: isRoot ? OTHER_UID : (process.getgid?.() ?? OTHER_UID) };
  if (isRoot) await chown(workspace, identity.uid, identity.gid);
  const files = new SandboxFiles(machine);
  const plan: SandboxPlan = {
    mounts: [{ source: workspace, target: WORKSPACE_PATH, access: "write" }],
    symlinks: [],
    environment: { PATH: "/usr/bin:/bin" },
    workingDirectory: WORKSPACE_PATH,
    limits: DEFAULT_LIMITS,
    temporaryBytes: 16 * 1024 * 1024,
    socketFamilies: ["inet", "inet6"],
    mayFork: true,
    identity,
  };
  const start: TestSandbox["start"] = (command, changes = {}, beforeRelease) =>
    spawnSandbox(machine, files, { ...plan, ...changes }, command, beforeRelease);
  return {
    machine,
    files,
    identity,
    workspace,
    plan,
    start,
    async run(script, changes = {}) {
      const started = await start(["/bin/sh", "-c", script], changes);
      started.stdin.end();
      const [stdout, stderr, { exitCode }] = await Promise.all([
        readAll(started.stdout, MAX_OUTPUT_BYTES),
        readAll(started.stderr, MAX_OUTPUT_BYTES),
        started.ended,
      ]);
      return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
    },
    async remove() {
      await files.pipes.close();
      await rm(directory, { recursive: true, force: true });
      await rm(workspace, { recursive: true, force: true });
    },
  };
}
