import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrograms, type ProgramsDriver } from "../../packages/host/src/programs/create-programs.ts";
import { GuardRecords } from "../../packages/host/src/programs/guard-records.ts";
import { ProtectedWorkspace } from "../../packages/host/src/programs/protected-workspace.ts";
import { StartedPrograms } from "../../packages/host/src/programs/started-programs.ts";
import { DiskSpace } from "../../packages/host/src/storage/disk-space.ts";
import { DEFAULT_STORAGE_LIMITS } from "../../packages/host/src/storage/storage-limits.ts";
import { type Containment, openContainment } from "../../packages/host/src/sandbox/open-containment.ts";
import {
  DEFAULT_LIMITS,
  type ProcessLimits,
  type SandboxIdentity,
  WORKSPACE_PATH,
} from "../../packages/host/src/sandbox/sandbox-plan.ts";
import type { ContainedProgram } from "../../packages/host/src/sandbox/start-contained.ts";
import { isRepositoryWritten } from "./repository-written.ts";

/** A workspace with a repository, what lies outside, and a sandbox that swaps one for the other. */
export interface GuardRace {
  readonly workspace: string;
  readonly outside: string;
  readonly programs: ProgramsDriver;
  readonly recorder: GuardRecorder;
  /** What was changed of the repository or outside; none if nothing was. */
  changes(): Promise<string[]>;
  /**
   * Empty files and directories that bubblewrap itself made outside. Below 0.12 it follows a link while it makes a mount
   * point; the kernel keeps such swappers out by its gate and its lock, which this one goes round.
   */
  readonly made: number;
  /**
   * How often bubblewrap itself emptied the repository's configuration: it looks whether there is a file to mount over, and
   * makes one with `creat` if there is none. A repository that comes back in between loses what was in it. Nothing that runs
   * in the sandbox wrote; the kernel's gate and lock keep such swappers out.
   */
  readonly emptied: number;
  /** Whether a program has written the repository itself. */
  isWritten(): Promise<boolean>;
  /** Nobody swaps any more. */
  readonly isOver: boolean;
  close(): Promise<void>;
}

const TEST_USER = 1000;
/** It works for as long as the campaign does. */
const ENDLESS: ProcessLimits = { ...DEFAULT_LIMITS, cpuMs: 86_400_000 };
const MAX_COMPLAINT = 1000;
const CONFIG = "[core]\n\tbare = false\n";
export const OUTSIDE_SECRET = "this lies outside";

/** Remembers what of the repository was seen as itself and not as a link, and so had to be guarded. */
export class GuardRecorder extends ProtectedWorkspace {
  readonly #guarded = new Map<AbortSignal, readonly string[]>();

  override async begin(...[guarded, signal, onAsked]: Parameters<ProtectedWorkspace["begin"]>) {
    const stay = await super.begin(guarded, signal, onAsked);
    const targets = new Set(stay.guards.map(({ target }) => target));
    this.#guarded.set(
      signal,
      ["config", "hooks"].filter((name) => targets.has(`${WORKSPACE_PATH}/.git/${name}`)),
    );
    return stay;
  }

  /** Asked once, after the program with this signal was started. */
  guardedFor(signal: AbortSignal): readonly string[] {
    const guarded = this.#guarded.get(signal) ?? [];
    this.#guarded.delete(signal);
    return guarded;
  }
}

export async function startGuardRace(seed: number): Promise<GuardRace> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-guards-"));
  await chmod(directory, 0o755);
  const [workspace, outside] = [join(directory, "workspace"), join(directory, "outside")];
  await makeRepository(workspace, outside);
  const repository = (await stat(join(workspace, ".git"))).ino;
  const containment = await openContainment({ directory: join(directory, "machine") });
  if (containment.problem !== undefined) throw new Error(`${containment.problem.problem}: ${containment.problem.fix}`);
  const { identity } = await containment.identityFor(workspace);
  const recorder = new GuardRecorder({
    paths: [".git"],
    // Putting back is not raced here: it would take away what the swapper works with.
    restoreProtected: () => Promise.resolve([]),
    records: new GuardRecords(join(directory, "guards")),
  });
  const programs = createPrograms({
    containment: () => Promise.resolve(containment),
    cacheDirectory: join(directory, "cache"),
    protectedWorkspace: recorder,
    findToolchains: () => Promise.resolve([]),
    space: new DiskSpace(DEFAULT_STORAGE_LIMITS),
    started: new StartedPrograms(join(directory, "programs")),
  });
  const swapper = await startSwapper(containment, workspace, identity, seed);
  let complaint = "";
  swapper.stderr.on("data", (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString("latin1")}`.slice(-MAX_COMPLAINT);
  });
  let made = 0;
  let emptied = 0;
  /** Puts back what bubblewrap emptied, so that the next time is seen too. */
  const countEmptied = async (): Promise<void> => {
    for (const place of [".git", "away"]) {
      const directory = join(workspace, place);
      const facts = await lstat(directory).catch(() => undefined);
      if (facts?.ino !== repository) continue;
      const config = await lstat(join(directory, "config")).catch(() => undefined);
      if (config?.isFile() !== true || config.size > 0) continue;
      emptied++;
      await writeFile(join(directory, "config"), CONFIG).catch(() => undefined);
    }
  };
  /** What is empty is counted; anything else is a change. */
  const countMade = async (): Promise<string[]> => {
    const place = join(outside, "empty");
    const found: string[] = [];
    for (const entry of await readdir(place, { withFileTypes: true })) {
      const path = join(place, entry.name);
      const isEmpty = entry.isDirectory()
        ? (await readdir(path)).length === 0
        : entry.isFile() && (await readFile(path)).length === 0;
      if (isEmpty) made++;
      else found.push(`outside, ${entry.name} was written`);
      await rm(path, { recursive: true });
    }
    return found;
  };
  let hasEnded = false;
  const ended = swapper.ended
    .catch(() => undefined)
    .then(() => {
      hasEnded = true;
    });
  return {
    workspace,
    outside,
    programs,
    recorder,
    get made() {
      return made;
    },
    get emptied() {
      return emptied;
    },
    isWritten: () => isRepositoryWritten([join(workspace, ".git"), join(workspace, "away")], repository),
    get isOver() {
      return hasEnded;
    },
    changes: async () => [
      ...(await findChanges(workspace, outside)),
      ...(await countMade()),
      ...(await countEmptied().then(() => [])),
      ...(hasEnded ? [`nobody swaps any more, the race is over: ${complaint}`] : []),
    ],
    async close() {
      swapper.kill();
      await ended;
      await programs.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function makeRepository(workspace: string, outside: string): Promise<void> {
  for (const root of [workspace, outside]) {
    const git = root === workspace ? join(workspace, ".git") : outside;
    await mkdir(join(git, "hooks"), { recursive: true });
    await writeFile(join(git, "config"), root === workspace ? CONFIG : OUTSIDE_SECRET);
    if (root === outside) await writeFile(join(git, "only-outside"), OUTSIDE_SECRET);
  }
  await symlink(outside, join(workspace, "to-outside"));
  await mkdir(join(outside, "empty"));
  // SECURITY: bubblewrap has the host's root below this name while it makes mount points.
  await symlink(`/oldroot${outside}/empty`, join(workspace, "to-old-root"));
  await symlink(join(outside, "config"), join(workspace, "config-to-outside"));
  await symlink(join(outside, "hooks"), join(workspace, "hooks-to-outside"));
  await own(workspace);
  // Whoever got there could do anything.
  await own(outside);
}

async function own(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  await chown(path, TEST_USER, TEST_USER);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await own(join(path, entry.name));
    else await lchown(join(path, entry.name), TEST_USER, TEST_USER);
  }
}

async function startSwapper(
  containment: Containment,
  workspace: string,
  identity: SandboxIdentity,
  seed: number,
): Promise<ContainedProgram> {
  const program = await readFile(new URL("./guard-swapper.py", import.meta.url), "utf8");
  const plan = {
    mounts: [{ source: workspace, target: WORKSPACE_PATH, access: "write" }],
    symlinks: [],
    environment: { PATH: "/usr/bin:/bin" },
    workingDirectory: WORKSPACE_PATH,
    limits: ENDLESS,
    temporaryBytes: 1024 * 1024,
    socketFamilies: [],
    mayFork: true,
    identity,
  } as const;
  const swapper = await containment.start(plan, ["/usr/bin/python3", "-c", program, String(seed)]);
  swapper.stdin.end();
  await once(swapper.stdout, "data");
  return swapper;
}

async function findChanges(workspace: string, outside: string): Promise<string[]> {
  const found: string[] = [];
  const names = (await readdir(outside)).sort().join();
  if (names !== "config,empty,hooks,only-outside") found.push(`outside there are ${names}`);
  for (const name of ["config", "only-outside"]) {
    const text = await readFile(join(outside, name), "utf8").catch(String);
    if (text !== OUTSIDE_SECRET) found.push(`outside, ${name} is now ${text}`);
  }
  for (const place of [".git", "away"]) {
    // What a link leads to is looked at above.
    const real = await realpath(join(workspace, place)).catch(() => outside);
    if (real === outside || real.startsWith(`${outside}/`)) continue;
    const text = await readFile(join(real, "config"), "utf8").catch(() => CONFIG);
    // Empty is what bubblewrap makes to mount over, in a stand-in or, see above, in the repository itself.
    if (text !== CONFIG && text !== OUTSIDE_SECRET && text !== "") found.push(`${place}/config is now ${text}`);
    const hooks = await readdir(join(real, "hooks")).catch(() => []);
    if (hooks.length > 0) found.push(`${place}/hooks has ${hooks.join()}`);
  }
  return found;
}
