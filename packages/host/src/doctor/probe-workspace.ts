import type { Containment } from "../sandbox/open-containment.ts";
import { type SandboxIdentity, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { WorkspaceIdentity } from "../sandbox/workspace-identity.ts";
import { resolveWorkspace } from "../home/workspace-rules.ts";
import { findReadProblem } from "../toolchains/path-access.ts";
import type { Mechanism } from "./host-report.ts";
import { runProbe } from "./run-probe.ts";

export interface WorkspaceProbe {
  readonly mechanism: Mechanism;
  /** Undefined if the directory cannot be a workspace. */
  readonly workspace: string | undefined;
  readonly identity: SandboxIdentity;
  readonly access: "none" | "read" | "write";
}

export interface WorkspaceProbeOptions {
  readonly containment: Containment;
  readonly directory: string;
  readonly kernelHome: string;
  readonly userHome: string;
}

/** Tests what programs could do in a directory if a session were opened on it. */
export async function probeWorkspace(options: WorkspaceProbeOptions): Promise<WorkspaceProbe> {
  const { containment, directory, kernelHome, userHome } = options;
  const base = { name: "workspace", how: "the directory mounted, and its permissions asked for inside" };
  let workspace: string;
  try {
    workspace = await resolveWorkspace(directory, { home: kernelHome, userHome });
  } catch (fault) {
    const found = fault instanceof Error ? fault.message : String(fault);
    const advice = "run doctor in a project's directory";
    // The identity depends only on the owner of the directory.
    const { identity } = await containment.identityFor("/");
    return { mechanism: { ...base, state: "untried", found, advice }, workspace: undefined, identity, access: "none" };
  }
  const who = await containment.identityFor(workspace);
  const { access, found, advice } = await probeAccess(containment, workspace, who);
  const state = containment.level === "L2" ? "untried" : access === "write" ? "holds" : "fails";
  return { mechanism: { ...base, state, found, advice }, workspace, identity: who.identity, access };
}

async function probeAccess(
  containment: Containment,
  workspace: string,
  { identity, access, reason }: WorkspaceIdentity,
): Promise<Pick<WorkspaceProbe, "access"> & Pick<Mechanism, "found" | "advice">> {
  const barred = await findReadProblem(workspace, identity);
  if (barred !== undefined) {
    return { access: "none", found: barred, advice: "move it, or open that directory to the user" };
  }
  if (containment.level === "L2") return { access, found: reason ?? `user ${identity.uid}`, advice: undefined };
  const plan = {
    identity,
    mounts: [{ source: workspace, target: WORKSPACE_PATH, access }],
    workingDirectory: WORKSPACE_PATH,
  };
  const { output } = await runProbe(containment.start, plan, "[ -w . ] && echo write || { [ -r . ] && echo read; }");
  if (output === "write") return { access: "write", found: `user ${identity.uid} can write`, advice: undefined };
  if (output !== "read") return { access: "none", found: output, advice: "see what the sandbox says" };
  const found = reason ?? `user ${identity.uid} can only read`;
  return { access: "read", found, advice: "chown it to a user (--fix shows how)" };
}
