import { chown, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Measurement } from "../../harness/measurement.ts";
import { openWorkbench, WORKSPACE_OWNER } from "./open-workbench.ts";

const SESSIONS = 1000;
const WORKSPACES = 50;
const MB = 1024 * 1024;

/** A thousand sessions over fifty workspaces that each read a file: the kernel's memory and its workers'. */
export const manySessions: Measurement = async ({ scale, directory }) => {
  const bench = await openWorkbench(directory);
  const count = Math.max(20, Math.round(SESSIONS * scale));
  const workspaces = Math.max(2, Math.round(WORKSPACES * scale));
  let most = 0;
  for (let n = 0; n < count; n++) {
    const session = await bench.kernel.session({
      workspace: await workspaceAt(Math.floor((n * workspaces) / count), (n * workspaces) % count < workspaces),
    });
    await bench.call("file_read", { path: "file.txt" }, session);
    if (n % 50 === 0) most = Math.max(most, await residentOfTree());
  }
  most = Math.max(most, await residentOfTree());
  await bench.close();
  return {
    rows: [
      {
        what: `resident memory of ${count} sessions over ${workspaces} workspaces, each having read a file, workers included`,
        ours: { value: most / MB, unit: "MB" },
        bar: { of: "ours", limit: "at most", value: 1024 },
        picture: "1,000 sessions, MB",
      },
    ],
    raw: { "resident MB": [most / MB] },
    notes: ["many sessions: a page that several processes share counts once, in parts (Pss)"],
  };

  async function workspaceAt(n: number, isNew: boolean): Promise<string> {
    const workspace = join(directory, `many-${n}`);
    if (!isNew) return workspace;
    await mkdir(workspace);
    await writeFile(join(workspace, "file.txt"), "narthex");
    if (process.getuid?.() === 0) await chown(workspace, WORKSPACE_OWNER, WORKSPACE_OWNER);
    return workspace;
  }
};

/** Of this process and all below it. */
async function residentOfTree(): Promise<number> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    const status = /^\d+$/.test(name) ? await readFile(`/proc/${name}/status`, "utf8").catch(() => "") : "";
    if (status !== "") parents.set(Number(name), numberIn(status, "PPid"));
  }
  const isBelow = (pid: number): boolean => pid === process.pid || (parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  let bytes = 0;
  for (const pid of [...parents.keys()].filter(isBelow)) {
    bytes += numberIn(await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => ""), "Pss") * 1024;
  }
  return bytes;
}

function numberIn(text: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
}
