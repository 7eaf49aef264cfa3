import assert from "node:assert/strict";
import { chmod, chown, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { createKernel, type KernelSession, type NarthexKernel } from "narthex";
import { createHostedHome, createTestHome, objectOf, objectsOf, type TestHome, textOf } from "./home.ts";

/** What is in a workspace: modes, links and text. */
async function snapshot(directory: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(directory, { recursive: true })).sort()) {
    const path = join(directory, name);
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) found[name] = `-> ${await readlink(path)}`;
    else if (stats.isDirectory()) found[name] = `directory ${stats.mode & 0o777}`;
    else found[name] = `${stats.mode & 0o777} ${await readFile(path, "utf8")}`;
  }
  return found;
}

describe("narthex undo", { timeout: 240_000 }, () => {
  let at: TestHome;
  let kernel: NarthexKernel;
  let session: KernelSession;
  let number = 0;

  before(async () => {
    at = await createHostedHome();
    await chmod(at.root, 0o755);
    kernel = await createKernel({ data: at.home });
  });
  after(async () => {
    await kernel.close({ graceMs: 0 });
    await at.remove();
  });
  beforeEach(async () => {
    await rm(at.workspace, { recursive: true });
    await mkdir(at.workspace);
    await put("kept.txt", "kept");
    session = await kernel.session({ workspace: at.workspace });
  });

  async function put(path: string, text: string): Promise<void> {
    await mkdir(join(at.workspace, path, ".."), { recursive: true });
    await writeFile(join(at.workspace, path), text);
    await own();
  }

  async function own(): Promise<void> {
    if (process.getuid?.() !== 0) return;
    for (const name of ["", ...(await readdir(at.workspace, { recursive: true }))]) {
      const path = join(at.workspace, name);
      if (!(await lstat(path)).isSymbolicLink()) await chown(path, 1000, 1000);
    }
  }

  async function call(tool: string, input: JsonObject): Promise<string> {
    const requestId = `call-${++number}`;
    const { response, status } = await session.call(tool, input, { requestId });
    assert.equal(status, "success", response.result.case === "error" ? response.result.value.message : tool);
    return requestId;
  }

  const now = (): Promise<Record<string, string>> => snapshot(at.workspace);
  const undo = (what: string, ...words: string[]): Promise<JsonObject> =>
    at.ask(["undo", what, "--by", "ada", ...words]);
  const refused = async (what: string): Promise<JsonObject> => objectOf((await at.ask(["undo", what], 1))["error"]);
  const changesOf = (answer: JsonObject): JsonValue[] =>
    objectsOf(answer["calls"]).flatMap(({ changes }) =>
      objectsOf(changes).map(({ action, path }) => [action, path] as JsonValue),
    );

  it("reverts a write, an edit, a delete and a move exactly, with modes and links", async () => {
    await put("script.sh", "old");
    await chmod(join(at.workspace, "script.sh"), 0o750);
    await put("tree/a/file", "a");
    await symlink("a/file", join(at.workspace, "tree/link"));
    await put("from/x", "x");
    await put("to", "replaced");
    await chmod(join(at.workspace, "tree/a"), 0o700);
    for (const [tool, input, expected] of [
      [
        "file_write",
        { path: "new/deep/file", content: "x" },
        [
          ["removed", "new/deep/file"],
          ["removed", "new/deep"],
          ["removed", "new"],
        ],
      ],
      ["file_write", { path: "script.sh", content: "new" }, [["restored", "script.sh"]]],
      ["file_write", { path: "script.sh", content: "more", append: true }, [["restored", "script.sh"]]],
      ["file_edit", { path: "kept.txt", old_content: "kept", new_content: "lost" }, [["restored", "kept.txt"]]],
      ["file_delete", { path: "tree", recursive: true }, undefined],
      [
        "file_move",
        { source: "from", destination: "other/place" },
        [
          ["moved_back", "from"],
          ["removed", "other"],
        ],
      ],
      [
        "file_move",
        { source: "from/x", destination: "to", overwrite: true },
        [
          ["moved_back", "from/x"],
          ["restored", "to"],
        ],
      ],
    ] as const) {
      const start = await now();
      const requestId = await call(tool, input);
      assert.notDeepEqual(await now(), start);
      const answer = await undo(`${session.id}/${requestId}`);
      assert.deepEqual(await now(), start, `${tool} ${JSON.stringify(input)}`);
      if (expected !== undefined) assert.deepEqual(changesOf(answer), expected);
    }
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
  });

  it("prints with --dry-run what it would do, and changes nothing", async () => {
    const requestId = await call("file_write", { path: "kept.txt", content: "new" });
    const changed = await now();
    const answer = await undo(`${session.id}/${requestId}`, "--dry-run");
    assert.deepEqual(changesOf(answer), [["restored", "kept.txt"]]);
    assert.deepEqual(
      objectsOf(answer["calls"]).map(({ undone_index: index }) => index),
      [null],
    );
    assert.deepEqual(await now(), changed);
    await undo(`${session.id}/${requestId}`);
    assert.notDeepEqual(await now(), changed);
  });

  it("undoes a call once, never an undo, and records who asked for it in the ledger", async () => {
    const requestId = await call("file_write", { path: "kept.txt", content: "new" });
    const answer = await undo(`${session.id}/${requestId}`);
    assert.equal((await refused(`${session.id}/${requestId}`))["code"], "NOTHING_TO_UNDO");
    assert.equal((await refused(session.id))["code"], "NOTHING_TO_UNDO");
    assert.equal(await readFile(join(at.workspace, "kept.txt"), "utf8"), "kept");
    const [undone] = objectsOf(answer["calls"]);
    const record = await at.ask(["ledger", "show", JSON.stringify(undone?.["undone_index"])]);
    assert.equal(record["chain"], session.id);
    const entry = objectOf(objectsOf(record["entries"])[0]?.["changes_undone"]);
    assert.deepEqual([entry["by"], entry["request_id"], entry["done"]], ["ada", requestId, true]);
    const begun = await at.ask(["ledger", "show", String(Number(undone?.["undone_index"]) - 1)]);
    assert.equal(objectOf(objectsOf(begun["entries"])[0]?.["changes_undone"])["done"] ?? false, false);
  });

  it("changes nothing if anything changed since, and names the paths", async () => {
    const requestId = await call("file_delete", { path: "kept.txt" });
    const wide = await call("file_write", { path: "dir/made", content: "x" });
    await put("kept.txt", "somebody else's");
    await put("dir/other", "somebody else's");
    const changed = await now();
    const conflict = await refused(`${session.id}/${requestId}`);
    assert.equal(conflict["code"], "UNDO_CONFLICT");
    assert.match(textOf(conflict["message"]), /`kept\.txt`/);
    assert.match(textOf((await refused(`${session.id}/${wide}`))["message"]), /`dir\/other`/);
    const both = textOf((await refused(session.id))["message"]);
    assert.match(both, /`kept\.txt`/);
    assert.match(both, /`dir\/other`/);
    assert.deepEqual(await now(), changed, "not even what could have been undone");
  });

  it("treats a changed mode, a link in its place and an occupied name as conflicts too", async () => {
    const requestId = await call("file_write", { path: "kept.txt", content: "new" });
    const path = join(at.workspace, "kept.txt");
    await chmod(path, 0o600);
    assert.equal((await refused(`${session.id}/${requestId}`))["code"], "UNDO_CONFLICT");
    await rm(path);
    await symlink("/etc/passwd", path);
    assert.equal((await refused(`${session.id}/${requestId}`))["code"], "UNDO_CONFLICT");
    assert.equal(await readlink(path), "/etc/passwd");
    await put("source", "moved");
    const move = await call("file_move", { source: "source", destination: "destination" });
    await put("source", "somebody else's");
    assert.match(textOf((await refused(`${session.id}/${move}`))["message"]), /`source`/);
  });

  it("does not follow a directory that became a link", async () => {
    await put("dir/file", "old");
    const requestId = await call("file_write", { path: "dir/file", content: "new" });
    await rm(join(at.workspace, "dir"), { recursive: true });
    await put("decoy/file", "new");
    await symlink("decoy", join(at.workspace, "dir"));
    assert.equal((await refused(`${session.id}/${requestId}`))["code"], "UNDO_CONFLICT");
    assert.equal(await readFile(join(at.workspace, "decoy/file"), "utf8"), "new");
  });

  it("undoes a session from its last call to its first, also after it was closed", async () => {
    await put("dir/a", "a");
    const start = await now();
    await call("file_write", { path: "kept.txt", content: "1" });
    await call("file_edit", { path: "kept.txt", old_content: "1", new_content: "2" });
    await call("file_write", { path: "dir/b", content: "b" });
    await call("file_move", { source: "dir", destination: "moved/dir" });
    await call("file_write", { path: "moved/dir/a", content: "changed" });
    await call("file_move", { source: "kept.txt", destination: "dir" });
    await call("file_delete", { path: "moved", recursive: true });
    const once = await call("file_write", { path: "once", content: "x" });
    await undo(`${session.id}/${once}`);
    await session.close();
    const answer = await undo(session.id);
    assert.deepEqual(await now(), start);
    assert.deepEqual(
      objectsOf(answer["calls"]).map((undone) => undone["request_id"]),
      Array.from({ length: 7 }, (_, index) => `call-${number - 1 - index}`),
    );
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
  });

  it("rejects an unknown session or call, a call without changes, and an incomplete name", async () => {
    const requestId = await call("file_read", { path: "kept.txt" });
    assert.equal((await refused(`${session.id}/${requestId}`))["code"], "NOTHING_TO_UNDO");
    assert.equal((await refused(`${session.id}/nobody`))["code"], "NOTHING_TO_UNDO");
    assert.equal((await at.run(["undo", "ses_aaaaaaaaaaaaaaaaaaaa"])).code, 3);
    for (const half of [`${session.id}/`, "/call-1", ""]) assert.equal((await at.run(["undo", half])).code, 2, half);
  });
});

describe("narthex undo without a running kernel", { timeout: 120_000 }, () => {
  it("takes the home for itself, undoes what another process recorded, and releases the home", async (context) => {
    const at = await createTestHome();
    context.after(() => at.remove());
    await chmod(at.root, 0o755);
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    const session = await at.openSession();
    const words = ["call", "file_write", '{"path":"made/file","content":"x"}', "--session", session.id];
    await at.ask([...words, "--request-id", "one/with/slashes"]);
    assert.deepEqual(await readdir(at.workspace), ["made"]);
    const answer = await at.ask(["undo", `${session.id}/one/with/slashes`, "--by", "ada"]);
    assert.equal(objectsOf(answer["calls"]).length, 1);
    assert.deepEqual(await readdir(at.workspace), []);
    const again = await at.run(["undo", session.id]);
    assert.deepEqual([again.code, /undone already/.test(again.stderr)], [1, true]);
  });
});
