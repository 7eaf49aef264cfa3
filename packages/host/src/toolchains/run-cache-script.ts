import type { Containment } from "../sandbox/open-containment.ts";
import { readAll } from "../sandbox/read-all.ts";
import { DEFAULT_LIMITS, HOME_PATH, type SandboxIdentity, type SandboxPlan } from "../sandbox/sandbox-plan.ts";
import { CACHE_SCRIPT } from "./cache-script.ts";

/** A directory written by programs of one identity: the home of a workspace, or the scratch directory of a session. */
export interface WrittenDirectory {
  readonly source: string;
  readonly identity: SandboxIdentity;
}

const MAX_WORK_MS = 60_000;
const KILOBYTE = 1024;

/**
 * Measures, shrinks or empties a directory with `CACHE_SCRIPT`. Returns its size in kilobytes afterwards; infinity if
 * it could not be determined in time.
 *
 * SECURITY: runs in a sandbox as the directory's owner, with nothing else inside: the owner can replace files with
 * links meanwhile, and a kernel that runs as root must not follow them.
 */
export async function runCacheScript(
  containment: Pick<Containment, "start">,
  { source, identity }: WrittenDirectory,
  ...words: readonly string[]
): Promise<number> {
  const plan: SandboxPlan = { ...PLAN, mounts: [{ source, target: HOME_PATH, access: "write" }], identity };
  const program = await containment.start(plan, ["/bin/sh", "-c", CACHE_SCRIPT, "sh", ...words]);
  const timer = setTimeout(program.kill, MAX_WORK_MS);
  try {
    program.stdin.end();
    program.stderr.resume();
    const [output] = await Promise.all([readAll(program.stdout, KILOBYTE), program.ended]);
    const text = output.toString("latin1").trim();
    return /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  } finally {
    clearTimeout(timer);
  }
}

const PLAN: Omit<SandboxPlan, "mounts" | "identity"> = {
  symlinks: [],
  environment: { PATH: "/usr/bin:/bin", HOME: HOME_PATH, LC_ALL: "C" },
  workingDirectory: "/",
  limits: { ...DEFAULT_LIMITS, cpuMs: 60_000, memoryBytes: 512 * KILOBYTE * KILOBYTE, processes: 64 },
  temporaryBytes: KILOBYTE * KILOBYTE,
  socketFamilies: [],
  mayFork: true,
};
