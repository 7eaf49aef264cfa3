import { chown, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Measurement } from "../../frame/measurement.ts";
import { openWorkbench, WORKSPACE_OWNER } from "./open-workbench.ts";

const SESSIONS = 1000;
const WORKSPACES = 100;
const MB = 1024 * 1024;

/** A thousand sessions over a hundred workspaces that each read a file: the kernel's memory and its workers'. */
export const manySessions: Measurement = async ({ scale, directory }) => {
  const bench = await openWorkbench(directory);
  const count = Math.max(20, Math.round(SESSIONS * scale));
  const workspaces = Math.max(2, Math.round(WORKSPACES * scale));
  let most = 0;
  for (let n = 0; n < count; n++) {
    const session = await bench.kernel.session({ workspace: await workspaceAt(n % workspaces, n < workspaces) });
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
    notes: ["many sessions: private and shared pages of every process are counted, so shared ones count many times"],
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

/** This process and all below it. */
async function residentOfTree(): Promise<number> {
  const parents = new Map<number, number>();
  const resident = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    const pid = Number(name);
    const text = Number.isInteger(pid) ? await readFile(`/proc/${name}/status`, "utf8").catch(() => "") : "";
    const field = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, "m").exec(text)?.[1] ?? 0);
    if (text === "") continue;
    parents.set(pid, field("PPid"));
    resident.set(pid, field("VmRSS") * 1024);
  }
  const isBelow = (pid: number): boolean => pid === process.pid || (parents.has(pid) && isBelow(parents.get(pid) ?? 0));
  return [...resident].filter(([pid]) => isBelow(pid)).reduce((sum, [, bytes]) => sum + bytes, 0);
}
