import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readHolder } from "./holder.ts";
import { homePaths } from "./home-paths.ts";
import { openHome } from "./open-home.ts";
import { findSocketPaths } from "./socket-paths.ts";

const fresh = () => mkdtemp(join(tmpdir(), "narthex-home-"));
const open = (path: string, waitMs = 0) => openHome({ path, command: "a test", waitMs });
const mode = async (path: string) => (await stat(path)).mode & 0o777;

test("a home that others can write to is refused, with the fix", async () => {
  const path = await fresh();
  await chmod(path, 0o777);
  await assert.rejects(open(path), { code: "HOME_UNSAFE", message: /chmod 700/ });
});

test("a home of root's below a directory of another user is refused", async () => {
  if (process.getuid?.() !== 0) return;
  for (const [owner, mode] of [
    [1000, 0o755],
    [0, 0o777],
  ] as const) {
    const parent = await fresh();
    await chown(parent, owner, owner);
    await chmod(parent, mode);
    const message = owner === 0 ? /can be written by others/ : /belongs to user 1000/;
    await assert.rejects(open(join(parent, "home")), { code: "HOME_UNSAFE", message });
  }
  const sticky = await fresh();
  await chmod(sticky, 0o1777);
  await (await open(join(sticky, "home"))).close();
});

test("a home that is a file is refused", async () => {
  const path = join(await fresh(), "file");
  await writeFile(path, "");
  await assert.rejects(open(path));
});

test("a second opener is told who holds it, in the same process and in another", async () => {
  const path = await fresh();
  const home = await open(path);
  await assert.rejects(open(path), { code: "HOME_BUSY", message: new RegExp(`a test.*process ${process.pid}`) });
  const script = `
    import { openHome } from ${JSON.stringify(new URL("./open-home.ts", import.meta.url).href)};
    try { await openHome({ path: process.argv[1], command: "other", waitMs: 50 }); console.log("opened"); }
    catch (error) { console.log(error.code); }`;
  const other = spawn(process.execPath, ["--input-type=module", "-e", script, path]);
  const [answer] = (await once(other.stdout, "data")) as [Buffer];
  assert.equal(answer.toString().trim(), "HOME_BUSY");
  await home.close();
  await (await open(path)).close();
});

test("a holder that is killed lets go of the home", async () => {
  const path = await fresh();
  const script = `
    import { openHome } from ${JSON.stringify(new URL("./open-home.ts", import.meta.url).href)};
    await openHome({ path: process.argv[1], command: "doomed", waitMs: 0 });
    console.log("held"); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", script, path]);
  await once(holder.stdout, "data");
  assert.equal((await readHolder(homePaths(path)))?.command, "doomed");
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await (await open(path)).close();
});

test("a home that frees up in time is waited for", async () => {
  const path = await fresh();
  const home = await open(path);
  const waiting = open(path, 5000);
  await home.close();
  await (await waiting).close();
});

test("everything in a home is private to its owner, however it was made", async () => {
  const path = join(await fresh(), "home");
  await mkdir(path, { mode: 0o755 });
  const home = await open(path);
  assert.equal(await mode(path), 0o700);
  for (const directory of [home.paths.run, home.paths.policy, home.paths.store, home.paths.content, home.paths.keys]) {
    assert.equal(await mode(directory), 0o700);
  }
  assert.equal(await mode(home.paths.adminToken), 0o600);
  await home.close();
});

test("a linked home is the home it points to", async () => {
  const path = await fresh();
  const link = join(await fresh(), "link");
  await symlink(path, link);
  const home = await open(link);
  assert.equal(home.path, path);
  await assert.rejects(open(path), { code: "HOME_BUSY" });
  await home.close();
});

test("tokens are good for their scope, and only those of this run", async () => {
  const path = await fresh();
  const first = await open(path);
  const old = (await readFile(first.paths.adminToken, "utf8")).trim();
  assert.deepEqual(first.tokens.authorize(old), { scope: "admin" });
  const reading = (await readFile(first.paths.readToken, "utf8")).trim();
  assert.deepEqual(first.tokens.authorize(reading), { scope: "read" });
  for (const wrong of ["", "admin", `${old}x`, "x".repeat(10_000)])
    assert.equal(first.tokens.authorize(wrong), undefined);
  await first.close();
  const second = await open(path);
  assert.equal(second.tokens.authorize(old), undefined);
  await second.close();
});

test("a home whose path is too long for sockets has them elsewhere, and says where", async () => {
  const path = join(await fresh(), "a".repeat(120));
  const home = await open(path);
  assert.ok(Buffer.byteLength(home.sockets.services) <= 103);
  assert.deepEqual(await findSocketPaths(home.paths), home.sockets);
  await home.close();
});

test("sockets elsewhere are looked for only in a directory that is its owner's alone", async () => {
  const path = join(await fresh(), "a".repeat(120));
  const home = await open(path);
  const found = dirname(home.sockets.services);
  await home.close();
  // The kernel was killed, and the directory of temporary files emptied since.
  await writeFile(join(home.paths.run, "sockets"), found);
  const none = join(home.paths.run, "services.sock");
  const services = async () => (await findSocketPaths(home.paths)).services;
  assert.equal(await services(), none, "it is gone");
  await mkdir(found, { mode: 0o700 });
  assert.equal(await services(), home.sockets.services);
  await chmod(found, 0o755);
  assert.equal(await services(), none, "others can enter it");
  if (process.getuid?.() === 0) {
    await chmod(found, 0o700);
    await chown(found, 1000, 1000);
    assert.equal(await services(), none, "another user made it");
  }
  await rm(found, { recursive: true });
  const elsewhere = await fresh();
  await symlink(elsewhere, found);
  assert.equal(await services(), none, "it is a link");
  await rm(found);
});
