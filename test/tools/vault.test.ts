import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, realpath, rename, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { blake3, ContentPlace, ContentRole, fromBinary, RecordContentSchema, toHex, utf8 } from "@narthex/contracts";
import { verifyLedger } from "@narthex/verify";
import { createKernel } from "narthex";
import { createVaultKernel, endOf, type VaultKernel } from "./vault-kernel.ts";

const SECRET = "hunter2-hunter2-hunter2";
const HASH = toHex(blake3(utf8(SECRET)));

describe("vault_copyto", { timeout: 120_000 }, () => {
  let at: VaultKernel;
  before(async () => {
    at = await createVaultKernel();
    await at.hide("keys/deploy", SECRET);
  });
  after(() => at[Symbol.asyncDispose]());

  const copy = async (source: string, destination: string) =>
    endOf(await at.session.call("vault_copyto", { source, destination }));

  it("copies a file of the vault, for its owner only, and returns its size and hash", async () => {
    assert.deepEqual((await copy("keys/deploy", "config/key")).raw, { bytes: SECRET.length, hash: HASH });
    assert.equal(await readFile(at.at("config/key"), "utf8"), SECRET);
    const { mode, uid } = await stat(at.at("config/key"));
    assert.deepEqual([mode & 0o777, uid], [0o600, (await stat(at.workspace)).uid]);
  });

  it("labels its result and the session secret, even if nothing could be written", async () => {
    const session = await at.open();
    const { metadata } = await session.call("vault_copyto", { source: "keys/deploy", destination: "labelled" });
    assert.deepEqual(metadata.labels, ["secret"]);
    assert.deepEqual((await at.kernel.getSession(session.id))?.session.labels, ["secret"]);
    const other = await at.open();
    await mkdir(at.at("directory"), { recursive: true });
    await at.own();
    const failed = await other.call("vault_copyto", { source: "keys/deploy", destination: "directory" });
    assert.equal(endOf(failed).code, "NOT_A_FILE");
    assert.deepEqual((await at.kernel.getSession(other.id))?.session.labels, ["secret"]);
  });

  it("leaves no content that a session could name by the hash", async () => {
    await copy("keys/deploy", "named");
    for (const [tool, input] of [
      ["result_read", { hash: HASH }],
      ["hash", { content_hash: HASH }],
      ["artifact_publish", { artifact_id: "a", content_hash: HASH, category: "c" }],
    ] as const) {
      assert.equal(endOf(await at.session.call(tool, input)).code, "CONTENT_NOT_FOUND", tool);
    }
  });

  it("writes the secret into no row of the ledger, and the ledger verifies", async () => {
    await copy("keys/deploy", "recorded");
    for (const name of await readdir(join(at.home, "store"))) {
      const bytes = await readFile(join(at.home, "store", name));
      assert.equal(bytes.includes(SECRET), false, name);
    }
    const report = await verifyLedger(at.kernel.ledgerSource());
    assert.deepEqual(report.problems, []);
  });

  it("keeps what it replaces, as file_write does", async () => {
    await writeFile(at.at("replaced"), "what was there");
    await at.own();
    assert.equal((await copy("keys/deploy", "replaced")).code, "success");
    const kept = await at.kernel.statContent(blake3(utf8("what was there")));
    assert.deepEqual(
      kept?.holders.map(({ role }) => role),
      ["preimage"],
    );
    assert.equal(kept?.place, "row");
    assert.equal(await at.kernel.statContent(blake3(utf8(SECRET))), undefined);
  });

  it("copies large files and empty ones", async () => {
    const large = Buffer.alloc(3_000_000, "0123456789abcdef\n");
    await at.hide("large", large);
    await at.hide("empty", "");
    assert.equal((await copy("large", "large")).code, "success");
    assert.ok((await readFile(at.at("large"))).equals(large));
    assert.deepEqual((await copy("empty", "empty")).raw, { bytes: 0, hash: toHex(blake3(new Uint8Array(0))) });
    assert.equal((await stat(at.at("empty"))).size, 0);
  });

  it("follows no link out of the vault, and none that leads outside the lease", async () => {
    await writeFile(join(at.root, "outside"), "outside");
    await mkdir(join(at.vault, "links"), { recursive: true });
    await symlink("../../../outside", join(at.vault, "links/up"));
    await symlink(join(at.root, "outside"), join(at.vault, "links/absolute"));
    await symlink("/etc/passwd", join(at.vault, "links/system"));
    await symlink(at.workspace, join(at.vault, "links/workspace"));
    await symlink("../keys/deploy", join(at.vault, "links/inside"));
    await at.own();
    for (const source of ["links/up", "links/absolute", "links/system", "links/workspace/replaced"]) {
      assert.equal((await copy(source, "escaped")).code, "PATH_ESCAPE", source);
    }
    await assert.rejects(stat(at.at("escaped")), { code: "ENOENT" });
    assert.equal((await copy("links/inside", "linked")).code, "success");
    const narrow = await at.open([
      { kind: "vault", prefixes: ["/links"] },
      { kind: "fs_write", prefixes: [at.workspace] },
    ]);
    const denied = await narrow.call("vault_copyto", { source: "links/inside", destination: "denied" });
    assert.equal(endOf(denied).code, "CAPABILITY_MISSING");
    await assert.rejects(stat(at.at("denied")), { code: "ENOENT" });
  });

  it("rejects unusual paths, missing files, directories and pipes", async () => {
    for (const source of ["../home/narthex.yaml", "keys/../../x", "/", ".", "a\\..\\b", "x\0y"]) {
      assert.equal((await copy(source, "odd")).code, "INVALID_INPUT", source);
    }
    assert.equal((await copy("absent", "odd")).code, "FILE_NOT_FOUND");
    execFileSync("mkfifo", [join(at.vault, "pipe")]);
    await at.own();
    for (const source of ["keys", "pipe"]) assert.equal((await copy(source, "odd")).code, "NOT_A_FILE", source);
    for (const destination of ["/etc/x", `${at.root}/x`, `${at.vault}/x`]) {
      assert.equal((await copy("keys/deploy", destination)).code, "PATH_ESCAPE", destination);
    }
    await symlink(join(at.root, "outside"), at.at("way-out"));
    await symlink(at.root, at.at("way-up"));
    await at.own();
    assert.equal((await copy("keys/deploy", "way-out")).code, "NOT_A_FILE");
    assert.equal((await copy("keys/deploy", "way-up/outside")).code, "PATH_ESCAPE");
    assert.equal(await readFile(join(at.root, "outside"), "utf8"), "outside");
  });

  it("needs the vault and the destination in the lease, and a second rule for protected paths", async () => {
    const none = await at.kernel.session({ workspace: at.workspace });
    const call = { source: "keys/deploy", destination: "without" };
    assert.equal(endOf(await none.call("vault_copyto", call)).code, "CAPABILITY_MISSING");
    const readOnly = await at.open([{ kind: "vault", prefixes: ["/"] }]);
    assert.equal(endOf(await readOnly.call("vault_copyto", call)).code, "CAPABILITY_MISSING");
    const other = await at.open([
      { kind: "vault", prefixes: ["/other"] },
      { kind: "fs_write", prefixes: [at.workspace] },
    ]);
    assert.equal(endOf(await other.call("vault_copyto", call)).code, "CAPABILITY_MISSING");
    assert.equal((await copy("keys/deploy", ".env")).code, "NO_MATCHING_RULE");
    assert.equal((await copy("keys/deploy", "sub/.SSH/id")).code, "NO_MATCHING_RULE");
    await assert.rejects(stat(at.at(".env")), { code: "ENOENT" });
  });

  it("charges staged bytes to the budget, and stages nothing beyond it", async () => {
    const capabilities = [
      { kind: "vault", prefixes: ["/"] },
      { kind: "fs_write", prefixes: [at.workspace] },
    ] as const;
    await at.hide("costly", "c".repeat(200_000));
    const session = await at.kernel.session({
      workspace: at.workspace,
      lease: { capabilities, budgets: { stored_bytes: 100_000 } },
    });
    const end = await session.call("vault_copyto", { source: "costly", destination: "costly" });
    assert.equal(endOf(end).code, "RESOURCE_EXCEEDED");
    await assert.rejects(stat(at.at("costly")), { code: "ENOENT" });
    assert.equal(await at.kernel.statContent(blake3(utf8("c".repeat(200_000)))), undefined);
  });

  it("is the only access: no other tool sees the vault", async () => {
    const reach = `cat ${at.vault}/keys/deploy; ls -a ${at.vault} ${at.home}; find / -xdev -name deploy 2>/dev/null; grep -rl ${SECRET} /proc/1/environ /tmp /scratch 2>/dev/null; true`;
    const shell = await at.session.call("shell_exec", { command: reach });
    assert.equal(endOf(shell).code, "success", endOf(shell).text);
    const said = JSON.stringify(shell.raw);
    assert.doesNotMatch(said, new RegExp(SECRET));
    assert.match(said, /No such file or directory/);
    for (const [tool, input] of [
      ["file_read", { path: `${at.vault}/keys/deploy` }],
      ["file_list", { path: at.vault }],
      ["file_read", { path: "../secrets/vault/keys/deploy" }],
    ] as const) {
      assert.match(endOf(await at.session.call(tool, input)).code, /^(?:PATH_ESCAPE|INVALID_INPUT)$/, tool);
    }
  });
});

describe("a vault", { timeout: 120_000 }, () => {
  it("needs a person's approval by default, and a denial copies nothing", async () => {
    const asked: string[] = [];
    const approver = {
      door: "test",
      ask: ({ tool }: { readonly tool: string }) => {
        asked.push(tool);
        return Promise.resolve({ approved: false, approver: "tester" });
      },
    };
    await using at = await createVaultKernel({ policies: [], approver });
    await at.hide("key", SECRET);
    const end = endOf(await at.session.call("vault_copyto", { source: "key", destination: "key" }));
    assert.equal(end.code, "APPROVAL_DENIED");
    assert.deepEqual(asked, ["vault_copyto@1.0.0"]);
    await assert.rejects(stat(at.at("key")), { code: "ENOENT" });
  });

  it("and a workspace never overlap, also through a link, and for earlier sessions", async () => {
    await using at = await createVaultKernel();
    await mkdir(join(at.vault, "inner"));
    await symlink(at.vault, join(at.root, "link"));
    for (const workspace of [dirname(at.vault), at.vault, join(at.vault, "inner"), join(at.root, "link")]) {
      await assert.rejects(at.open([], workspace), { code: "WORKSPACE_REFUSED", message: /the vault/ }, workspace);
    }
    const early = await at.open();
    await at.kernel.close();
    await mkdir(join(at.workspace, "vault"));
    await writeFile(join(at.workspace, "vault/key"), SECRET);
    await writeFile(join(at.home, "narthex.yaml"), `vault: ${join(at.workspace, "vault")}\n`);
    await at.own();
    const kernel = await createKernel({ data: at.home });
    try {
      const ask = (tool: string, input: { path: string }) => kernel.callInProcess({ token: early.token, tool, input });
      for (const path of ["vault/key", "."]) {
        const end = endOf(await ask(path === "." ? "file_list" : "file_read", { path }));
        assert.equal(end.code, "PATH_ESCAPE");
        assert.match(end.text, /holds the vault/);
      }
    } finally {
      await kernel.close();
    }
  });

  it("is read in one sandbox and its file written by another, under one request id", async () => {
    await using at = await createVaultKernel();
    await at.hide("key", SECRET);
    const { requestId } = await at.session.call("vault_copyto", { source: "key", destination: "key" });
    const [vault, workspace] = [(await stat(at.vault)).ino, (await stat(at.workspace)).ino];
    const held = await Promise.all((await descendants()).map((pid) => workspaceOf(pid)));
    const seen = new Set(held.filter((inode) => inode === vault || inode === workspace));
    assert.deepEqual(seen, new Set([vault, workspace]));
    const outcome = await at.kernel.findCall(at.session.id, requestId);
    const staged = fromBinary(RecordContentSchema, outcome?.content ?? new Uint8Array(0)).items.filter(
      ({ role }) => role === ContentRole.STAGED,
    );
    assert.deepEqual(
      staged.map(({ place, digest }) => [place, toHex(digest)]),
      [[ContentPlace.NONE, HASH]],
    );
  });

  it("that overlaps a path of the kernel or of every sandbox is rejected at start", async () => {
    await using at = await createVaultKernel();
    await at.kernel.close();
    for (const vault of ["/usr/share/vault", "/usr", "/etc", at.home, join(at.home, "keys"), at.root]) {
      await writeFile(join(at.home, "narthex.yaml"), `vault: ${vault}\n`);
      await assert.rejects(createKernel({ data: at.home }), { code: "CONFIG_INVALID", message: /overlaps/ }, vault);
    }
    await writeFile(join(at.home, "narthex.yaml"), "");
    await (await createKernel({ data: at.home })).close();
  });

  it("that is missing, was moved, or is not configured is an error that says what to do", async () => {
    await using at = await createVaultKernel();
    await at.hide("key", SECRET);
    const call = async () => endOf(await at.session.call("vault_copyto", { source: "key", destination: "key" }));
    await rename(at.vault, `${at.vault}-away`);
    assert.match((await call()).text, /is no directory: make it/);
    await symlink(`${at.vault}-away`, at.vault);
    const moved = await call();
    assert.equal(moved.code, "SANDBOX_ERROR");
    assert.match(moved.text, /was moved/);
    await assert.rejects(stat(at.at("key")), { code: "ENOENT" });
    assert.equal(await realpath(at.vault), `${at.vault}-away`);
    await at.kernel.close();
    await writeFile(join(at.home, "narthex.yaml"), "");
    const policies = [{ name: "t.cedar", text: 'permit(principal, action == Action::"vault_copyto", resource);' }];
    const kernel = await createKernel({ data: at.home, policies });
    const input = { source: "key", destination: "key" };
    const end = endOf(await kernel.callInProcess({ token: at.session.token, tool: "vault_copyto", input }));
    await kernel.close();
    assert.equal(end.code, "SANDBOX_UNAVAILABLE");
    assert.match(end.text, /name its directory as `vault` in narthex\.yaml/);
  });
});

/** Processes that this one started, and those that they started. */
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

/** What a process has at /workspace; undefined outside a sandbox. */
async function workspaceOf(pid: string): Promise<number | undefined> {
  return await stat(`/proc/${pid}/root/workspace`).then(
    ({ ino }) => ino,
    () => undefined,
  );
}
