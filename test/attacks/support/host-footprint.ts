import assert from "node:assert/strict";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { AttackedKernel } from "./attacked-kernel.ts";

/** What a kernel and its sandboxes hold on this host. */
export interface HostFootprint {
  /** Processes that see one of its directories in a mount, by what they run. */
  readonly processes: readonly string[];
  /** The kernel's open files, by what they are. */
  readonly files: readonly string[];
  readonly mounts: readonly string[];
  readonly groups: readonly string[];
  readonly temporary: readonly string[];
}

const POLL_MS = 50;
const MAX_POLLS = 200;
const IDLE_POLLS = 5;
const SERVICES = /\/services\.sock$/;

async function takeFootprint(at: AttackedKernel): Promise<HostFootprint> {
  return {
    processes: await findSandboxed(at.root),
    files: await findOpenFiles(at.pid),
    mounts: (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter((line) => line.includes(at.root)),
    groups: await findGroups(at.pid),
    temporary: (await readdir(at.temporary)).sort(),
  };
}

/** What an idle kernel holds: what runs after a call, the measuring of its home, has ended. */
export async function idleFootprint(at: AttackedKernel): Promise<HostFootprint> {
  let last = await takeFootprint(at);
  for (let same = 0; same < IDLE_POLLS; ) {
    await setTimeout(POLL_MS);
    const now = await takeFootprint(at);
    const isIdle = now.processes.length === 0 && now.groups.length === 0;
    same = isIdle && JSON.stringify(now) === JSON.stringify(last) ? same + 1 : 0;
    last = now;
  }
  return last;
}

/** No more than before: at once, or as soon as what runs after a call has ended. */
export async function assertNothingLeft(at: AttackedKernel, before: HostFootprint): Promise<void> {
  let left = surplus(await takeFootprint(at), before);
  for (let polls = 0; left.length > 0 && polls < MAX_POLLS; polls++) {
    await setTimeout(POLL_MS);
    left = surplus(await takeFootprint(at), before);
  }
  assert.deepEqual(left, []);
}

/** Of a kernel that is gone. */
export async function assertNothingRuns(root: string): Promise<void> {
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    if ((await findSandboxed(root)).length === 0) return;
    await setTimeout(POLL_MS);
  }
  assert.deepEqual(await findSandboxed(root), []);
}

/** What there is now, and was not before or not so often. */
function surplus(now: HostFootprint, before: HostFootprint): string[] {
  return (["processes", "files", "mounts", "groups", "temporary"] as const).flatMap((kind) => {
    const rest = [...before[kind]];
    return now[kind].filter((one) => {
      const at = rest.indexOf(one);
      if (at !== -1) rest.splice(at, 1);
      return at === -1;
    });
  });
}

/** By their mounts: whoever became somebody else's child is found as well. */
async function findSandboxed(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const mounts = await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "");
    if (!mounts.includes(`${root}/`)) continue;
    const command = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).replaceAll("\0", " ");
    // Workers for files stay for the next call.
    if (!command.includes("files-worker.js")) found.push(command.slice(0, 200));
  }
  return found.sort();
}

async function findOpenFiles(pid: number): Promise<string[]> {
  const numbers = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(numbers.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "closed")));
  const clients = await findClients(pid);
  // Numbers of pipes and sockets differ; how many there are does not. The store opens its log when it needs it.
  return targets
    .filter((target) => target !== "closed" && !/\/store\//.test(target) && !clients.has(target))
    .map((target) => target.replace(/\d{3,}/g, "N"))
    .sort();
}

/** Connections of the services' socket: a client keeps as many as it had calls at the same time. */
async function findClients(pid: number): Promise<ReadonlySet<string>> {
  const lines = (await readFile(`/proc/${pid}/net/unix`, "utf8").catch(() => "")).split("\n");
  const own = lines.map((line) => line.split(/ +/)).filter((words) => SERVICES.test(words[7] ?? ""));
  return new Set(own.map((words) => `socket:[${words[6]}]`));
}

/** Control groups of a kernel that hold something. Empty ones wait for the next program. */
export async function findGroups(pid: number): Promise<string[]> {
  const found: string[] = [];
  const look = async (directory: string, depth: number): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
      if (!entry.isDirectory()) continue;
      const path = join(directory, entry.name);
      if (entry.name.startsWith(`narthex-${pid}-`)) {
        if ((await readFile(join(path, "cgroup.procs"), "latin1").catch(() => "")) !== "") found.push(path);
      } else if (depth > 0) await look(path, depth - 1);
    }
  };
  await look("/sys/fs/cgroup", 4);
  return found.sort();
}
