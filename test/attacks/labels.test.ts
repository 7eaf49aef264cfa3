import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { create, KernelService, ToolRequestSchema, toHex } from "@narthex/contracts";
import { createKernel } from "../doors/socket-kernel.ts";
import { connectTo } from "../tools/shell-kernel.ts";
import { createLabelledHome, type LabelledHome } from "./support/labelled-sessions.ts";

describe("a label is not lost", { timeout: 300_000 }, () => {
  let home: LabelledHome;
  before(async () => {
    home = await createLabelledHome();
  });
  after(() => home[Symbol.asyncDispose]());

  it("and not gained by working beside a secret without reading it", async () => {
    const workspace = await home.workspace();
    const session = await home.open(workspace);
    await home.done(session, "file_write", { path: "a.txt", content: "a" });
    assert.deepEqual((await home.done(session, "file_read", { path: "a.txt" })).metadata.labels, []);
  });

  it("through a file, for every tool that reads, over the wire too", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    for (const [tool, input] of [
      ["file_read", { path: "notes.txt" }],
      ["read_file", { path: "notes.txt" }],
      ["file_list", { path: "." }],
      ["file_search", { pattern: "hunter" }],
      ["file_edit", { path: "notes.txt", old_content: "hunter2", new_content: "hunter2!" }],
      ["file_edit", { path: "notes.txt", old_content: "hunter2!", new_content: "hunter2" }],
    ] as const) {
      await home.assertSecret(await home.open(workspace), tool, input);
    }
    const { token } = await home.open(workspace);
    const client = createClient(KernelService, connectTo(home.at.kernel));
    const tool = { case: "fileRead" as const, value: { path: "notes.txt" } };
    const { result } = await client.call(create(ToolRequestSchema, { requestId: "w1", sessionToken: token, tool }));
    assert.ok(result.case === "success");
    assert.deepEqual(result.value.labels, ["secret"]);
  });

  it("through a move of a file that is secret by its name or by its writer", async () => {
    const workspace = await home.workspace();
    const mover = await home.open(workspace);
    await home.put(join(workspace, "id_rsa"), "hunter2");
    await home.done(mover, "file_move", { source: "id_rsa", destination: "plain.txt" });
    await home.assertSecretFile(workspace, "plain.txt");

    const other = await home.workspace();
    const dirty = await home.openDirty(other);
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    await home.done(await home.open(other), "file_move", { source: "notes.txt", destination: "deep/er.txt" });
    await home.assertSecretFile(other, "deep/er.txt");
  });

  it("through a nested workspace, or a surrounding one", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    await home.done(dirty, "file_write", { path: "sub/notes.txt", content: "hunter2" });
    await home.assertSecretFile(join(workspace, "sub"), "notes.txt");

    const inner = await home.workspace();
    await home.put(join(inner, "in/.env"), "PASSWORD=hunter2");
    const inside = await home.openDirty(join(inner, "in"));
    await home.done(inside, "file_write", { path: "notes.txt", content: "hunter2" });
    const around = await home.open(inner);
    // Neither reads nor told of a secret name; and what is moved lies outside of what was labelled.
    await home.done(around, "file_move", { source: "in/notes.txt", destination: "out/notes.txt" });
    await home.assertSecretFile(join(inner, "out"), "notes.txt");
  });

  it("through the vault", async () => {
    const workspace = await home.workspace();
    await home.at.hide("key", "hunter2");
    const copier = await home.open(workspace);
    await home.done(copier, "vault_copyto", { source: "key", destination: "innocent.txt" });
    await home.assertSecretFile(workspace, "innocent.txt");
  });

  it("through an artifact, whatever session reads it", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    const { hash } = await home.done(dirty, "echo", "hunter2");
    const contentHash = toHex(hash ?? assert.fail());
    const artifact = { artifact_id: "loot", content_hash: contentHash, category: "text" };
    await home.done(dirty, "artifact_publish", artifact);
    const elsewhere = await home.workspace();
    await home.assertSecret(await home.open(elsewhere), "artifact_get", { artifact_id: "loot" });
    const reader = await home.open(elsewhere);
    assert.equal((await reader.call("result_read", { hash: contentHash })).status, "error");
    await reader.call("artifact_get", { artifact_id: "loot" });
    await home.assertSecret(reader, "result_read", { hash: contentHash });
    await home.assertSecret(reader, "hash", { content_hash: contentHash });
  });

  it("through the content store: bytes put again without labels, and hashes passed to others", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    const client = createClient(KernelService, connectTo(home.at.kernel));
    const headers = { authorization: `Bearer ${dirty.token}` };
    const parts = (async function* () {
      yield { part: { case: "header" as const, value: { labels: [] } } };
      yield { part: { case: "chunk" as const, value: Buffer.from("hunter2 again") } };
    })();
    const { hash, labels } = await client.putContent(parts, { headers });
    assert.deepEqual(labels, ["secret"]);
    const clean = await home.open(workspace);
    for (const [tool, input] of [
      ["result_read", { hash: toHex(hash) }],
      ["hash", { content_hash: toHex(hash) }],
      ["artifact_publish", { artifact_id: "stolen", content_hash: toHex(hash), category: "text" }],
    ] as const) {
      const { response } = await clean.call(tool, input);
      assert.equal(response.result.case === "error" && response.result.value.errorCode, "CONTENT_NOT_FOUND", tool);
    }
    assert.deepEqual((await home.at.kernel.getSession(clean.id))?.session.labels, []);
  });

  it("through a child, in either direction", async () => {
    const { kernel } = home.at;
    const workspace = await home.workspace();
    const parent = await home.open(workspace);
    const { session, token } = await kernel.delegateLease({ token: parent.token });
    const read = await (await kernel.resumeSession(token)).call("file_read", { path: ".env" });
    assert.equal(read.status, "success");
    assert.deepEqual((await kernel.getSession(parent.id))?.session.labels, []);
    await home.assertSecret(parent, "result_read", { hash: toHex(read.hash ?? assert.fail()) });
    assert.deepEqual((await kernel.getSession(session.session.id))?.session.labels, ["secret"]);

    const dirty = await home.openDirty(await home.workspace());
    const child = await kernel.delegateLease({ token: dirty.token });
    const said = await (await kernel.resumeSession(child.token)).call("echo", "hunter2");
    assert.deepEqual(said.metadata.labels, ["secret"]);
  });

  it("through a repeat, by id or by key", async () => {
    const workspace = await home.workspace();
    const session = await home.open(workspace);
    const asked = { requestId: "first", dedupeKey: "key" };
    for (const again of [asked, asked, { ...asked, requestId: "second" }]) {
      const { metadata } = await session.call("file_read", { path: ".env" }, again);
      assert.deepEqual(metadata.labels, ["secret"]);
    }
  });

  it("through undo, after a person removed the label", async () => {
    const workspace = await home.workspace();
    const { kernel } = home.at;
    const dirty = await home.openDirty(workspace);
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    const { requestId } = await home.done(dirty, "file_delete", { path: "notes.txt" });
    await kernel.clearWorkspaceLabels({ workspace, by: "ann" });
    const clean = await home.open(workspace);
    assert.deepEqual((await home.done(clean, "file_list", { path: "." })).metadata.labels, []);
    await kernel.undo({ sessionId: dirty.id, requestId, by: "ann", dryRun: false });
    await home.assertSecretFile(workspace, "notes.txt");
  });
});

test("a label is not lost through a restart", { timeout: 120_000 }, async () => {
  const home = await createLabelledHome();
  const { at } = home;
  const workspace = await home.workspace();
  const dirty = await home.openDirty(workspace);
  await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
  const watching = await home.open(workspace);
  await at.kernel.close({ graceMs: 0 });
  const again = await createKernel({ data: at.home });
  const fresh = await home.open(workspace, again);
  for (const { token } of [fresh, watching]) {
    const read = await (await again.resumeSession(token)).call("file_read", { path: "notes.txt" });
    assert.deepEqual([read.status, read.metadata.labels], ["success", ["secret"]]);
  }
  assert.deepEqual((await again.getSession(dirty.id))?.session.labels, ["secret"]);
  await again.close();
  await home[Symbol.asyncDispose]();
});
