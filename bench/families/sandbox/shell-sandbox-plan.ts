import { mkdir, chown } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { programPlan } from "../../../packages/host/src/programs/program-plan.ts";
import { HOME_PATH, SCRATCH_PATH, type SandboxPlan } from "../../../packages/host/src/sandbox/sandbox-plan.ts";
import { findWorkspace } from "../../../packages/host/src/sandbox/find-workspace.ts";
import { findToolchains } from "../../../packages/host/src/toolchains/find-toolchains.ts";
import { WORKSPACE_OWNER } from "./open-workbench.ts";

/** The sandbox that `shell_exec` has on this workspace: the same mounts, variables and limits. */
export async function planOfShell(workspace: string, directory: string): Promise<SandboxPlan> {
  const identity = { uid: WORKSPACE_OWNER, gid: WORKSPACE_OWNER };
  const owned = async (name: string): Promise<string> => {
    const path = join(directory, name);
    await mkdir(path);
    if (process.getuid?.() === 0) await chown(path, identity.uid, identity.gid);
    return path;
  };
  const toolchains = await findToolchains({
    path: process.env["PATH"] ?? "",
    userHome: homedir(),
    kernelHome: join(directory, "home"),
    workspace,
    identity,
  });
  const found = await findWorkspace(workspace);
  const place = { sessionId: "", workspace, access: "write", mayFork: true, keepsProtected: true } as const;
  const homes = [
    { source: await owned("bare-home"), target: HOME_PATH, access: "write" },
    { source: await owned("bare-scratch"), target: SCRATCH_PATH, access: "write" },
  ] as const;
  return programPlan(
    place,
    { command: [], workingDirectory: "." },
    { identity, directory: found, toolchains, guards: [], homes },
  );
}
