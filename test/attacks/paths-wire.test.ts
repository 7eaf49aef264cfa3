import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, lchown, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { codeOf, type RequestFields, serveKernel } from "./served-kernel.ts";
import { treeFacts } from "./support/tree-facts.ts";

const SECRET = "what lies outside";
/** A kernel follows as many links as Linux does. */
const MOST_LINKS = 40;

const kernel = await serveKernel({
  // Attempts to get out are violations, and the session is to last.
  configuration: "session: {quarantine: {violations: 1000, window_ms: 1000}}\n",
});
after(() => kernel.stop());
const { workspace, root } = kernel.home;
const outside = join(root, "outside");
await furnish();
const untouched = await treeFacts(outside);

async function furnish(): Promise<void> {
  await mkdir(outside);
  await writeFile(join(outside, "file"), SECRET);
  for (const path of [outside, join(outside, "file")]) await chmod(path, 0o777);
  await mkdir(join(workspace, "directory"));
  await writeFile(join(workspace, "directory/file"), "inside");
  await symlink("loop-b", join(workspace, "loop-a"));
  await symlink("loop-a", join(workspace, "loop-b"));
  for (let number = 0; number <= MOST_LINKS; number++)
    await symlink(number === 0 ? "directory/file" : `chain-${number}`, join(workspace, `chain-${number + 1}`));
  await own();
}

async function own(): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const entry of await readdir(workspace, { recursive: true, withFileTypes: true }))
    await lchown(join(entry.parentPath, entry.name), 1000, 1000);
}

const read = (path: string) => kernel.request({ tool: { case: "fileRead", value: { path } } });
const call = async (tool: string, input: JsonObject): Promise<string> =>
  codeOf(await kernel.call(tool, JSON.stringify(input)));

async function textOf(path: string): Promise<string> {
  const { result } = await read(path);
  return result.case === "success" ? Buffer.from(result.value.inlineResult).toString() : codeOf({ result } as never);
}

async function assertUntouched(): Promise<void> {
  assert.deepEqual(await treeFacts(outside), untouched);
  assert.equal(await readFile(join(workspace, "directory/file"), "utf8"), "inside");
}

test("a path with `..` is rejected in every typed message, and nothing is read, created or changed", async () => {
  for (const path of ["../../etc/passwd", "../outside/file", "directory/../../outside/file", "..", "a/.."]) {
    const messages: readonly NonNullable<RequestFields["tool"]>[] = [
      { case: "fileRead", value: { path } },
      { case: "fileWrite", value: { path, content: Buffer.from("attack") } },
      { case: "fileEdit", value: { path, oldContent: SECRET, newContent: "attack" } },
      { case: "shellExec", value: { command: "touch made", cwd: path } },
      { case: "gitOp", value: { operation: "STATUS", cwd: path } },
    ];
    for (const tool of messages)
      assert.equal(codeOf(await kernel.request({ tool })), "INVALID_REQUEST", `${tool.case} ${path}`);
  }
  await assertUntouched();
});

test("indirect paths are rejected or lead to the same file as the plain path", async () => {
  for (const path of [
    "directory//file",
    "./directory/./file",
    "directory/file/",
    "directory/file/.",
    `${workspace}//directory/file`,
    "/workspace/directory/file",
  ])
    assert.equal(await textOf(path), "inside", path);
  for (const path of [
    `${workspace}/../outside/file`,
    `${workspace}/directory/../../outside/file`,
    "/workspace/../outside/file",
    `/${outside}//file`,
    `${outside}/./file`,
    `${outside}/`,
    `${outside}/.`,
  ]) {
    for (const [tool, input] of [
      ["file_read", { path }],
      ["file_list", { path }],
      ["file_write", { path, content: "attack" }],
      ["file_delete", { path, recursive: true }],
      ["file_move", { from: "directory/file", to: path, overwrite: true }],
    ] as const)
      assert.match(await call(tool, input), /^(?:PATH_ESCAPE|INVALID_INPUT)$/, `${tool} ${path}`);
  }
  await assertUntouched();
});

test("link loops and too many links end in an error", async () => {
  assert.equal(await textOf(`chain-${MOST_LINKS}`), "inside");
  for (const path of ["loop-a", "loop-a/file", `chain-${MOST_LINKS + 1}`]) {
    for (const [tool, input] of [
      ["file_read", { path }],
      ["file_list", { path }],
      ["file_write", { path, content: "attack", append: true }],
    ] as const)
      assert.match(await call(tool, input), /^(?:PATH_ESCAPE|NOT_A_FILE|NOT_A_DIRECTORY|EXECUTION_FAILED)$/, path);
  }
  await assertUntouched();
});

/** Exchanges `swapped/file`'s directory for a link to the outside and back, without a moment in which there is none. */
const SWAP = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
print("begun", flush=True)
while True:
    if libc.renameat2(-100, b"swapped", -100, b"other", 2) != 0: sys.exit(os.strerror(ctypes.get_errno()))
`;

test("a directory that is constantly swapped for a link to the outside gives no access", async (context) => {
  await mkdir(join(workspace, "swapped"));
  await writeFile(join(workspace, "swapped/file"), "inside");
  await symlink(outside, join(workspace, "other"));
  await own();
  const swapping = execFile("/usr/bin/python3", ["-c", SWAP], { cwd: workspace });
  context.after(() => swapping.kill("SIGKILL"));
  await new Promise((resolve) => swapping.stdout?.once("data", resolve));
  let fooled = 0;
  for (let round = 0; round < 12; round++) {
    if ((await readFile(join(workspace, "swapped/file"), "utf8")) === SECRET) fooled++;
    const answers = await Promise.all([
      textOf("swapped/file"),
      call("file_write", { path: "swapped/file", content: "inside" }),
      call("file_edit", { path: "swapped/file", old_content: SECRET, new_content: "attack" }),
      call("file_write", { path: `swapped/new-${round}`, content: "attack" }),
      call("file_delete", { path: `swapped/new-${round}` }),
    ]);
    assert.ok(!answers.includes(SECRET), answers.join(" "));
  }
  // Whoever does not look where a path leads is led outside here.
  for (let tries = 0; fooled === 0; tries++) {
    assert.ok(tries < 10_000, "nobody was fooled, so there was no race");
    if ((await readFile(join(workspace, "swapped/file"), "utf8")) === SECRET) fooled++;
  }
  assert.equal(swapping.exitCode, null, "the swapping went on to the end");
  await assertUntouched();
});

test("all calls are in the ledger afterwards, and it is sound", async () => {
  assert.equal(await call("echo", {}), "success");
  await kernel.assertSound();
});
