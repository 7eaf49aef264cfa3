import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  assertFails,
  change,
  edit,
  list,
  listNames,
  move,
  read,
  readText,
  remove,
  write,
} from "./testing/file-operations.ts";
import { createScratchWorkspace, type ScratchWorkspace } from "./testing/scratch-workspace.ts";

describe("links, and what is neither file nor directory", () => {
  let scratch: ScratchWorkspace;
  let canary: string;
  const linkTo = (target: string, path: string): Promise<void> => symlink(target, scratch.at(path));
  before(async () => {
    scratch = await createScratchWorkspace();
    canary = join(scratch.directory, "canary");
    await mkdir(canary, { mode: 0o777 });
    await writeFile(join(canary, "secret"), "secret");
    await mkdir(scratch.at("real/deep"), { recursive: true });
    await writeFile(scratch.at("real/file"), "inside");
    await writeFile(scratch.at("real/deep/file"), "deep inside");
    await scratch.own();
  });
  after(async () => {
    assert.deepEqual(await readdir(canary), ["secret"]);
    assert.equal(await readFile(join(canary, "secret"), "utf8"), "secret");
    await scratch[Symbol.asyncDispose]();
  });

  it("follows links that stay inside, relative or absolute, by either name of the workspace", async () => {
    await linkTo("real/file", "relative");
    await linkTo("../real/deep", "real/around");
    await linkTo("/workspace/real", "absolute");
    await linkTo(scratch.at("real"), "absolute-outside-name");
    await linkTo("absolute/deep/../around/./file", "winding");
    assert.equal(await readText(scratch, "relative"), "inside");
    for (const path of ["real/around/file", "absolute/deep/file", "absolute-outside-name/deep/file", "winding"]) {
      assert.equal(await readText(scratch, path), "deep inside", path);
      assert.deepEqual((await scratch.prepare(read(path))).opened, ["real/deep/file"], path);
    }
    assert.deepEqual(await listNames(scratch, list("absolute")), ["around", "deep", "file"]);
  });

  it("changes what a link leads to, and leaves the link", async () => {
    await linkTo("real/written", "to-written");
    const [made] = await change(scratch, write("to-written", "through a link"));
    assert.equal(made?.path, "real/written");
    const [edited] = await change(scratch, edit("to-written", "through", "by"));
    assert.equal(edited?.path, "real/written");
    assert.equal(await readFile(scratch.at("real/written"), "utf8"), "by a link");
    assert.ok((await lstat(scratch.at("to-written"))).isSymbolicLink());
  });

  it("refuses every way out", async () => {
    const ways = {
      absolute: canary,
      up: "../../canary",
      "up-through-real": "../real/../../canary",
      root: "/",
      proc: "/proc/self/root",
      usr: "/usr",
      prefix: `${scratch.workspace}-other`,
      chain: "../absolute-chain",
    };
    await linkTo(canary, "absolute-chain");
    await mkdir(scratch.at("ways"));
    for (const [name, target] of Object.entries(ways)) await linkTo(target, `ways/${name}`);
    for (const name of Object.keys(ways)) {
      const path = `ways/${name}`;
      await assertFails(scratch.run(read(`${path}/secret`)), "PATH_ESCAPE");
      await assertFails(scratch.run(write(`${path}/new`, "x")), "PATH_ESCAPE");
      await assertFails(scratch.run(write(`${path}/new/er`, "x")), "PATH_ESCAPE");
      await assertFails(scratch.run(write(path, "x")), "PATH_ESCAPE");
      await assertFails(scratch.run(edit(`${path}/secret`, "secret", "x")), "PATH_ESCAPE");
      await assertFails(scratch.run(remove(`${path}/secret`)), "PATH_ESCAPE");
      await assertFails(scratch.run(list(path)), "PATH_ESCAPE");
      await assertFails(scratch.run(move(`${path}/secret`, "stolen")), "PATH_ESCAPE");
      await assertFails(scratch.run(move("real/file", `${path}/planted`)), "PATH_ESCAPE");
    }
  });

  it("gives up on loops, and follows forty links but not more", async () => {
    await linkTo("loop-b", "loop-a");
    await linkTo("loop-a", "loop-b");
    await linkTo("self/x", "self");
    for (const path of ["loop-a", "loop-a/x", "self", "self/y"]) {
      await assertFails(scratch.run(read(path)), "PATH_ESCAPE", /40 links/);
      await assertFails(scratch.run(write(path, "x")), "PATH_ESCAPE", /40 links/);
    }
    await linkTo("real/file", "link-1");
    for (let number = 2; number <= 41; number++) await linkTo(`link-${number - 1}`, `link-${number}`);
    assert.equal(await readText(scratch, "link-40"), "inside");
    await assertFails(scratch.run(read("link-41")), "PATH_ESCAPE", /40 links/);
  });

  it("finds nothing behind a link to nowhere, and can write what it leads to", async () => {
    await linkTo("real/nowhere/file", "dangling");
    await linkTo("nowhere/../../..", "dangling-up");
    await assertFails(scratch.run(read("dangling")), "FILE_NOT_FOUND");
    await assertFails(scratch.run(list("dangling")), "FILE_NOT_FOUND");
    await assertFails(scratch.run(read("dangling-up")), "FILE_NOT_FOUND");
    await change(scratch, write("dangling", "made"));
    assert.equal(await readFile(scratch.at("real/nowhere/file"), "utf8"), "made");
  });

  it("never waits for pipes, sockets or devices, and changes none", async () => {
    execFileSync("/usr/bin/mkfifo", [scratch.at("pipe")]);
    const script = "require('net').createServer().listen(process.argv[1], () => console.log('listens'))";
    const server = spawn(process.execPath, ["-e", script, scratch.at("socket")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await once(server.stdout, "data");
    const names = ["pipe", "socket"];
    if (process.getuid?.() === 0) {
      execFileSync("/usr/bin/mknod", [scratch.at("device"), "c", "1", "5"]);
      names.push("device");
    } else process.stdout.write("not root: no device can be made, so none is tried\n");
    await scratch.own();
    for (const name of names) {
      await linkTo(name, `to-${name}`);
      for (const path of [name, `to-${name}`]) {
        await assertFails(scratch.run(read(path)), "NOT_A_FILE");
        await assertFails(scratch.run(write(path, "x")), "NOT_A_FILE");
        await assertFails(scratch.run(write(path, "x", "append")), "NOT_A_FILE");
        await assertFails(scratch.run(edit(path, "x", "y")), "NOT_A_FILE");
      }
      await assertFails(scratch.run(remove(name)), "NOT_A_FILE");
      await assertFails(scratch.run(move(name, "elsewhere")), "NOT_A_FILE");
      await assertFails(scratch.run(write(`${name}/x`, "x")), "NOT_A_DIRECTORY");
    }
    server.kill();
    await once(server, "exit");
  });

  it("sees nothing of the host but the workspace", async () => {
    for (const path of ["proc", "etc", "usr", "opt"]) await assertFails(scratch.run(list(path)), "FILE_NOT_FOUND");
  });
});
