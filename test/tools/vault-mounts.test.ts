import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { after, before, describe, it } from "node:test";
import { createVaultKernel, endOf, type VaultKernel } from "./vault-kernel.ts";

/** A process in a sandbox: which directory of the host it has at which path, and whether it may write there. */
interface Sandbox {
  readonly workspace: number;
  readonly isWritable: boolean;
  /** Of the host, wherever they are mounted. */
  readonly roots: readonly string[];
}

describe("the two sandboxes of a copy out of the vault", { timeout: 120_000 }, () => {
  let at: VaultKernel;
  let sandboxes: readonly Sandbox[];
  let vault: number;
  let workspace: number;
  before(async () => {
    at = await createVaultKernel();
    await at.hide("keys/deploy", "hunter2-hunter2-hunter2");
    const end = endOf(await at.session.call("vault_copyto", { source: "keys/deploy", destination: "key" }));
    assert.equal(end.code, "success", end.text);
    [vault, workspace] = [(await stat(at.vault)).ino, (await stat(at.workspace)).ino];
    sandboxes = await seenSandboxes();
  });
  after(() => at[Symbol.asyncDispose]());

  /** Mounts of these directories of the test's own, or of something in them. */
  function within(roots: readonly string[], ...names: readonly string[]): string[] {
    return roots.filter((root) => names.some((name) => `${root}/`.includes(`/${basename(at.root)}/${name}/`)));
  }

  it("read the vault where nothing can be written, and without a workspace", () => {
    const reading = sandboxes.filter((one) => one.workspace === vault);
    assert.ok(reading.length > 0, "no sandbox holds the vault");
    for (const { isWritable, roots } of reading) {
      assert.equal(isWritable, false);
      assert.deepEqual(within(roots, "workspace", "home"), []);
    }
  });

  it("write the copy in the workspace, where neither the vault nor the staging store is mounted", () => {
    const placing = sandboxes.filter((one) => one.workspace === workspace);
    assert.ok(
      placing.some(({ isWritable }) => isWritable),
      "no sandbox can write the workspace",
    );
    for (const { roots } of placing) {
      assert.deepEqual(within(roots, "secrets", "home"), []);
    }
  });
});

/** Of all processes that this one started. */
async function seenSandboxes(): Promise<Sandbox[]> {
  const found = await Promise.all((await descendants()).map(sandboxOf));
  return found.filter((sandbox) => sandbox !== undefined);
}

async function sandboxOf(pid: string): Promise<Sandbox | undefined> {
  const place = await stat(`/proc/${pid}/root/workspace`).catch(() => undefined);
  const mounts = (await readFile(`/proc/${pid}/mountinfo`, "utf8").catch(() => "")).split("\n");
  const fields = mounts.map((line) => line.split(" ")).filter((line) => line.length > 5);
  const [, , , , , options = ""] = fields.find(([, , , , target]) => target === "/workspace") ?? [];
  if (place === undefined || options === "") return undefined;
  return {
    workspace: place.ino,
    isWritable: options.split(",").includes("rw"),
    roots: fields.map(([, , , root = ""]) => root),
  };
}

async function descendants(): Promise<string[]> {
  const parents = new Map<string, string>();
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
    parents.set(pid, /^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? "");
  }
  const isOurs = (pid: string): boolean =>
    pid === String(process.pid) || (parents.has(pid) && isOurs(parents.get(pid) ?? ""));
  return [...parents.keys()].filter((pid) => pid !== String(process.pid) && isOurs(pid));
}
