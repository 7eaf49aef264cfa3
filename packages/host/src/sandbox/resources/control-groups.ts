import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as setTimeoutCallback } from "node:timers";
import { setTimeout } from "node:timers/promises";

/** Total limits for all processes of a sandbox. */
export interface TotalLimits {
  readonly memoryBytes: number;
  readonly processes: number;
}

/** A control group: processes whose total usage the operating system limits. */
export interface ControlGroup {
  /** Adds a process, and with it all processes that it starts from then on. */
  add(pid: number): Promise<void>;
  peakMemoryBytes(): Promise<number | undefined>;
  readonly countsTime: boolean;
  /** CPU time of everything that ran in the group since its first process was added; undefined if it is not counted. */
  cpuMs(): Promise<number | undefined>;
  /** Whether a process was killed because the group's memory was used up. */
  ranOutOfMemory(): Promise<boolean>;
  /** Whether a process could not be started because there were too many. */
  ranOutOfProcesses(): Promise<boolean>;
  /** Releases the group, once nothing runs in it. */
  remove(): Promise<void>;
}

export interface ControlGroups {
  readonly version: 1 | 2;
  create(limits: TotalLimits): Promise<ControlGroup>;
  /** Removes the groups that are not in use. */
  close(): Promise<void>;
}

/** Returns undefined where this process may not create groups. Tested by creating one, not by reading settings. */
export async function findControlGroups(): Promise<ControlGroups | undefined> {
  for (const layout of await findLayouts()) {
    const groups = createGroups(layout);
    try {
      await prepare(layout);
      await sweep(layout);
      await (await groups.create({ memoryBytes: 64 * 1024 * 1024, processes: 16 })).remove();
      await groups.close();
      return createGroups(layout);
    } catch {
      // Not permitted here, or not with these controllers.
    }
  }
  return undefined;
}

interface Layout {
  readonly version: 1 | 2;
  /** Directories in which groups are created: one per controller, or one for all. */
  readonly memory: string;
  readonly processes: string;
  /** Undefined where no controller counts CPU time. */
  readonly processor: string | undefined;
}

async function findLayouts(): Promise<Layout[]> {
  const [own, mounts] = await Promise.all([read("/proc/self/cgroup"), read("/proc/self/mounts")]);
  const paths = new Map(own.split("\n").map((line) => [line.split(":")[1] ?? "", line.split(":").slice(2).join(":")]));
  const places = mounts.split("\n").map((line) => line.split(" "));
  const mountOf = (controller: string): string | undefined => {
    const found = places.find(
      ([, , kind, options]) => kind === "cgroup" && (options ?? "").split(",").includes(controller),
    );
    const path = paths.get(controller);
    return found?.[1] === undefined || path === undefined ? undefined : join(found[1], path);
  };
  const unified = places.find(([, , kind]) => kind === "cgroup2")?.[1];
  const [memory, processes, processor] = [mountOf("memory"), mountOf("pids"), mountOf("cpuacct")];
  const layouts: Layout[] = [];
  if (unified !== undefined) {
    const place = join(unified, paths.get("") ?? "");
    layouts.push({ version: 2, memory: place, processes: place, processor: place });
  }
  if (memory === undefined || processes === undefined) return layouts;
  // Counting CPU time is optional: if only this controller is refused, the limits work without it.
  if (processor !== undefined) layouts.push({ version: 1, memory, processes, processor });
  layouts.push({ version: 1, memory, processes, processor: undefined });
  return layouts;
}

/**
 * Version 2 allows controllers only in groups without processes of their own: move this process into a child group
 * first.
 */
async function prepare({ version, memory }: Layout): Promise<void> {
  if (version === 1) return;
  const available = (await readFile(join(memory, "cgroup.controllers"), "latin1")).trim().split(" ");
  if (!available.includes("memory") || !available.includes("pids")) throw new Error("without its controllers");
  const aside = join(memory, "narthex-kernel");
  await mkdir(aside, { recursive: true });
  await writeFile(join(aside, "cgroup.procs"), String(process.pid));
  await writeFile(join(memory, "cgroup.subtree_control"), "+memory +pids");
}

const NAME = /^narthex-(\d+)-[0-9a-f]+$/;

/** Removes groups of killed kernels. A group with running processes stays. */
async function sweep({ memory, processes, processor = memory }: Layout): Promise<void> {
  for (const parent of new Set([memory, processes, processor])) {
    for (const name of await readdir(parent)) {
      const pid = NAME.exec(name)?.[1];
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) await rmdir(join(parent, name)).catch(() => undefined);
    }
  }
}

/** Groups that could not be removed at once. */
const leftOver = new Set<string>();

async function removeLeftOvers(): Promise<void> {
  for (const directory of leftOver) {
    await rmdir(directory).then(
      () => leftOver.delete(directory),
      () => undefined,
    );
  }
}

function createGroups(layout: Layout): ControlGroups {
  const { version } = layout;
  /** Idle groups for reuse: creating and removing a group costs more than starting a program in it. */
  const free = new Map<string, Group[]>();
  let isClosed = false;

  async function make(limits: TotalLimits): Promise<Group> {
    // A random name, not a counter: a process can contain two copies of this package, and a killed one leaves its
    // groups.
    const name = `narthex-${process.pid}-${randomBytes(8).toString("hex")}`;
    const memory = join(layout.memory, name);
    const processes = join(layout.processes, name);
    const processor = layout.processor && join(layout.processor, name);
    const directories = [...new Set([memory, processes, processor ?? memory])];
    if (leftOver.size > 0) void removeLeftOvers();
    try {
      for (const directory of directories) await mkdir(directory);
      await writeFile(join(memory, FILES[version].limit), String(limits.memoryBytes));
      // Limits swap as well. The file is missing where the machine cannot count swap.
      const [file, limit] =
        version === 2 ? ["memory.swap.max", 0] : ["memory.memsw.limit_in_bytes", limits.memoryBytes];
      await writeFile(join(memory, file), String(limit)).catch(() => undefined);
      await writeFile(join(processes, "pids.max"), String(limits.processes));
    } catch (fault) {
      for (const directory of directories) await rmdir(directory).catch(() => undefined);
      throw fault;
    }
    return { memory, processes, processor, directories, killed: 0, refused: 0 };
  }

  return {
    version,
    async create(limits) {
      const key = `${limits.memoryBytes} ${limits.processes}`;
      const group = free.get(key)?.pop() ?? (await make(limits));
      const { memory, processes, directories } = group;
      const before = { killed: group.killed, refused: group.refused };
      /** A reused group has counted for earlier programs; the next program is held back until this was read. */
      let usedBefore: number | undefined;
      return {
        add: async (pid) => {
          const adding = directories.map((directory) => addTo(directory, pid));
          [usedBefore] = await Promise.all([usedBefore ?? processorTime(group, version), ...adding]);
        },
        countsTime: group.processor !== undefined,
        cpuMs: async () => {
          const used = await processorTime(group, version);
          return used === undefined ? undefined : Math.ceil(used - (usedBefore ?? used));
        },
        peakMemoryBytes: async () => numberIn(await read(join(memory, FILES[version].peak))),
        ranOutOfMemory: async () => {
          group.killed = countIn(await read(join(memory, FILES[version].events)), "oom_kill");
          return group.killed > before.killed;
        },
        ranOutOfProcesses: async () => {
          group.refused = countIn(await read(join(processes, "pids.events")), "max");
          return group.refused > before.refused;
        },
        remove: async () => {
          const waiting = free.get(key) ?? [];
          free.set(key, waiting);
          // A group that ran out of memory would show its peak to the next program, so it is not reused.
          const isFresh = group.killed === before.killed;
          if (!isClosed && isFresh && waiting.length < MAX_FREE) waiting.push(group);
          else for (const directory of directories) await removeGroup(directory);
        },
      };
    },
    async close() {
      isClosed = true;
      const groups = [...free.values()].flat();
      free.clear();
      for (const { directories } of groups) for (const directory of directories) await removeGroup(directory);
    },
  };
}

interface Group {
  readonly memory: string;
  readonly processes: string;
  readonly processor: string | undefined;
  readonly directories: readonly string[];
  /** Last values of counters that only increase. */
  killed: number;
  refused: number;
}

const MAX_FREE = 16;

async function addTo(directory: string, pid: number): Promise<void> {
  await writeFile(join(directory, "cgroup.procs"), String(pid)).catch((fault: unknown) => {
    // The process has ended already; bubblewrap reports why.
    if (!(fault instanceof Error && "code" in fault && fault.code === "ESRCH")) throw fault;
  });
}

const FILES = {
  1: { limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes", events: "memory.oom_control" },
  2: { limit: "memory.max", peak: "memory.peak", events: "memory.events" },
} as const;

/** Returns the CPU time of everything that ever ran in a group, in milliseconds. */
async function processorTime({ processor }: Group, version: 1 | 2): Promise<number | undefined> {
  if (processor === undefined) return undefined;
  if (version === 2) {
    const microseconds = /^usage_usec (\d+)$/m.exec(await read(join(processor, "cpu.stat")))?.[1];
    return microseconds === undefined ? undefined : Number(microseconds) / 1000;
  }
  const nanoseconds = numberIn(await read(join(processor, "cpuacct.usage")));
  return nanoseconds === undefined ? undefined : nanoseconds / 1_000_000;
}

const REMOVE_TRIES = 50;
const LATER_MS = 2000;

/** Retries: a group's last process is counted for a moment after it has ended. */
async function removeGroup(directory: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await rmdir(directory);
      return;
    } catch (fault) {
      const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
      if (code === "ENOENT") return;
      if (tries < REMOVE_TRIES && code === "EBUSY") await setTimeout(2);
      else {
        leftOver.add(directory);
        setTimeoutCallback(() => void removeLeftOvers(), LATER_MS).unref();
        return;
      }
    }
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "latin1");
  } catch {
    return "";
  }
}

function numberIn(text: string): number | undefined {
  const number = Number.parseInt(text, 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

function countIn(text: string, name: string): number {
  return Number.parseInt(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? "0", 10);
}
