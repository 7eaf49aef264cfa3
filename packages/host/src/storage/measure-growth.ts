import type { Containment } from "../sandbox/open-containment.ts";
import { readAll } from "../sandbox/read-all.ts";
import { DEFAULT_LIMITS, type FileIdentity, type SandboxPlan, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import type { WrittenDirectory } from "../toolchains/run-cache-script.ts";

const MAX_WORK_MS = 60_000;
const KILOBYTE = 1024;

export interface WorkspaceTree extends WrittenDirectory {
  readonly directory: FileIdentity;
}

/**
 * Returns the total bytes of all files of a workspace that were created or changed since a time; infinity if that
 * cannot be determined. It uses the ctime, which a program cannot set back.
 *
 * SECURITY: runs in a sandbox as the user that programs run as, with only the workspace inside, read-only.
 */
export async function measureGrowth(
  containment: Pick<Containment, "start">,
  { source, identity, directory }: WorkspaceTree,
  sinceMs: number,
): Promise<number> {
  const mount = { source, target: WORKSPACE_PATH, access: "read", guard: directory } as const;
  try {
    const program = await containment.start({ ...PLAN, mounts: [mount], identity }, [
      "/bin/sh",
      "-c",
      SCRIPT,
      "sh",
      String(sinceMs / 1000),
    ]);
    const timer = setTimeout(program.kill, MAX_WORK_MS);
    try {
      program.stdin.end();
      program.stderr.resume();
      const [output] = await Promise.all([readAll(program.stdout, KILOBYTE), program.ended]);
      const text = output.toString("latin1").trim();
      return /^\d+$/.test(text) ? Number(text) * KILOBYTE : Number.POSITIVE_INFINITY;
    } finally {
      clearTimeout(timer);
    }
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Fails if a directory cannot be entered, since its content would be missed; ignores files that vanish meanwhile. */
const SCRIPT = `
cd ${WORKSPACE_PATH} || exit 1
find . -xdev -type f -newerct "@$1" -print0 2>/tmp/problems | du -ck --files0-from=- 2>/dev/null | tail -n 1 | cut -f 1 > /tmp/sum
grep -qv 'No such file or directory' /tmp/problems && exit 1
cat /tmp/sum
`;

const PLAN: Omit<SandboxPlan, "mounts" | "identity"> = {
  symlinks: [],
  environment: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
  workingDirectory: "/",
  limits: { ...DEFAULT_LIMITS, cpuMs: MAX_WORK_MS, memoryBytes: 512 * KILOBYTE * KILOBYTE, processes: 64 },
  temporaryBytes: KILOBYTE * KILOBYTE,
  socketFamilies: [],
  mayFork: true,
};
