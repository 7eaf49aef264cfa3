import { KernelError } from "@narthex/contracts";
import type { Containment } from "../sandbox/open-containment.ts";
import { DEFAULT_LIMITS, type SandboxMount, type SandboxPlan, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";

export interface MadePaths {
  readonly workspace: string;
  /** Relative to the workspace's root. */
  readonly paths: readonly string[];
  /** What was protected before: nothing of it can go, whatever is put in the place of a path meanwhile. */
  readonly guards: readonly SandboxMount[];
}

const MAX_MS = 120_000;
/** Where in the workspace it is kept: what a person made while a program ran is not lost. */
const PLACE = ".narthex-taken";

/**
 * Moves aside what a program made among the protected paths, however it was made: pipes, names that are no text,
 * directories that it closed to itself, trees of any depth and number. Answers where it is kept.
 *
 * SECURITY: in a sandbox with the workspace and nothing else, so that a link put in its way leads nowhere.
 */
export async function takeAway(containment: Containment, { workspace, paths, guards }: MadePaths): Promise<string> {
  const { identity, directory } = await containment.identityFor(workspace);
  const mounts: SandboxMount[] = [
    { source: workspace, target: WORKSPACE_PATH, access: "write", guard: directory },
    ...guards,
  ];
  const place = `${PLACE}/${new Date().toISOString().replaceAll(":", "")}-${Math.random().toString(36).slice(2, 8)}`;
  const words = ["/bin/sh", "-c", SCRIPT, "sh", place, ...paths];
  const program = await containment.start({ ...PLAN, mounts, identity }, words);
  const timer = setTimeout(program.kill, MAX_MS);
  try {
    program.stdin.end();
    program.stdout.resume();
    program.stderr.resume();
    const { exitCode } = await program.ended;
    if (exitCode === 0) return place;
    throw new KernelError("SANDBOX_ERROR", "what a program made could not be taken away");
  } finally {
    clearTimeout(timer);
  }
}

/** Names lose their dots: kept under them, some programs would still take notice. What cannot be kept is deleted. */
const SCRIPT = `
cd ${WORKSPACE_PATH} && place=$1 && shift && mkdir -p -- "./$place" || exit 1
number=0
for path; do
  number=$((number + 1))
  name=$(printf %s "$path" | tr -c 'A-Za-z0-9_\\n-' _)
  chmod u+rwx -- "$(dirname -- "./$path")" 2>/dev/null
  mv -- "./$path" "./$place/$number$name" 2>/dev/null && continue
  find "./$path" -xdev -type d ! -perm -u=rwx -exec chmod u+rwx {} \\; 2>/dev/null
  rm -rf -- "./$path" || exit 1
done
`;

const MB = 1024 * 1024;

const PLAN: Omit<SandboxPlan, "mounts" | "identity"> = {
  symlinks: [],
  environment: { PATH: "/usr/bin:/bin", LC_ALL: "C" },
  workingDirectory: "/",
  limits: { ...DEFAULT_LIMITS, cpuMs: 120_000, memoryBytes: 512 * MB, processes: 64 },
  temporaryBytes: MB,
  socketFamilies: [],
  mayFork: true,
};
