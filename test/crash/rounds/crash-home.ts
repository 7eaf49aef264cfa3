import type { ChildProcess } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, type SocketKernel } from "../../doors/socket-kernel.ts";
import { LOAD_SESSIONS } from "./load-call.ts";
import { createLoadTools } from "./load-tools.ts";
import type { LoadSession } from "./make-call.ts";

/** What every session may spend: enough, and known. */
export const LOAD_BUDGETS = { calls: 10_000_000, cost_units: 10_000_000, stored_bytes: 1_000_000_000_000 } as const;

/** A home that kernels are killed on, the world outside of it, and what its clients know. */
export interface CrashHome {
  /** Everything that is removed with it. */
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  readonly effects: string;
  readonly sessions: readonly LoadSession[];
  /** Answers that were received, by request id: each must be given again, whenever it is asked for. */
  readonly answered: Map<string, string>;
  /** Calls that were made, and nobody knows of an answer. */
  readonly pending: Set<string>;
  /** Effects that a person said had happened: their results are lost for good. */
  readonly settled: Set<string>;
  /** Its disk refuses content now and then: what came is spent all the same, and no record says so. */
  failsToStore: boolean;
  /** Processes on it; whichever still runs at the end is killed. */
  readonly processes: Set<ChildProcess>;
  /** How many kernels opened their doors on it, and how many were killed before. */
  starts: number;
  cutShort: number;
  /** Starts a kernel in this process, as anyone would: no repair comes before. */
  open(): Promise<SocketKernel>;
  /** Another home like it, as long as it stays: to check the rules of a new one takes longer than most of what is tried. */
  copy(): Promise<CrashHome>;
  remove(): Promise<void>;
}

/** With `disk`, a directory to put the home in, apart from the rest of the world. */
export async function createCrashHome({ disk }: { readonly disk?: string } = {}): Promise<CrashHome> {
  const root = await makeRoot();
  const workspace = join(root, "workspace");
  await mkdir(workspace);
  const sessions: LoadSession[] = [];
  const at = describeHome({ root, home: join(disk ?? root, "home"), workspace, sessions });
  await writeFile(at.effects, "");
  const kernel = await at.open();
  for (let number = 0; number < LOAD_SESSIONS; number++) {
    const { id, token } = await kernel.session({ workspace, lease: { budgets: LOAD_BUDGETS } });
    sessions.push({ id, token });
  }
  await kernel.close();
  return at;
}

function makeRoot(): Promise<string> {
  return mkdtemp(join(tmpdir(), "narthex-kills-"));
}

function describeHome(made: Pick<CrashHome, "root" | "home" | "workspace" | "sessions">): CrashHome {
  const { root, home } = made;
  const effects = join(root, "effects");
  const kernels = new Set<SocketKernel>();
  const at: CrashHome = {
    ...made,
    effects,
    answered: new Map(),
    pending: new Set(),
    settled: new Set(),
    failsToStore: false,
    processes: new Set(),
    starts: 0,
    cutShort: 0,
    async open() {
      const kernel = await createKernel({ data: home, ...createLoadTools({ effects }) });
      at.starts++;
      kernels.add(kernel);
      return kernel;
    },
    async copy() {
      const copy = { ...made, root: await makeRoot() };
      const other = describeHome({ ...copy, home: join(copy.root, "home") });
      await Promise.all([cp(home, other.home, { recursive: true }), cp(effects, other.effects)]);
      other.starts = at.starts;
      return other;
    },
    async remove() {
      for (const child of at.processes) child.kill("SIGKILL");
      // Those that a failed check left open would keep this process.
      await Promise.all(Array.from(kernels, (kernel) => kernel.close({ graceMs: 0 })));
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return at;
}
