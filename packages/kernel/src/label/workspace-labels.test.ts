import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryStore, type MemoryStore } from "@narthex/testkit";
import { loadWorkspaceLabels, MAX_LABELLED_WORKSPACES, type WorkspaceLabelUpdate } from "./workspace-labels.ts";

/** Makes a labelling durable, as a record that holds it would. */
async function write(store: MemoryStore, labelling: WorkspaceLabelUpdate | undefined): Promise<void> {
  assert.ok(labelling !== undefined);
  const { nextIndex: index } = await store.head();
  const [hash, record] = [new Uint8Array(32), new Uint8Array()];
  const state = [labelling.row()];
  await store.append({ index, chain: "c", sequence: index, requestId: "", hash, record, content: [], state });
  labelling.noteDurable();
}

test("labels do not reach a neighbour, even one with a common name prefix", async () => {
  const labels = await loadWorkspaceLabels(createMemoryStore());
  labels.join("/projects/a", ["secret"]);
  for (const other of ["/projects/ab", "/projects/b", "/projects/a b", "/projects/A", "/project", "/projects/b/a"]) {
    assert.deepEqual(labels.get(other), [], other);
  }
});

test("labels apply to the directory, its parents and everything inside it", async () => {
  const labels = await loadWorkspaceLabels(createMemoryStore());
  labels.join("/projects/a", ["secret"]);
  labels.join("/projects/a/deep/down", ["untrusted"]);
  labels.join("/projects", ["own"]);
  const all = ["own", "secret", "untrusted"];
  for (const path of [
    "/",
    "/projects",
    "/projects/a",
    "/projects/a/deep",
    "/projects/a/deep/down",
    "/projects/a/deep/down/further",
  ]) {
    assert.deepEqual(labels.get(path), all, path);
  }
  assert.deepEqual(labels.get("/projects/b"), ["own"]);
  assert.deepEqual(labels.get("/projects/a/other"), ["own", "secret"]);
});

test("returns the same object while nothing changes, and for all directories without labels", async () => {
  const labels = await loadWorkspaceLabels(createMemoryStore());
  assert.equal(labels.get("/a"), labels.get("/b"));
  labels.join("/a", ["x"]);
  const before = labels.get("/a");
  assert.equal(labels.get("/a"), before);
  labels.join("/a", ["x"]);
  assert.equal(labels.get("/a"), before);
});

test("a label is written until a durable record holds it, and not afterwards", async () => {
  const store = createMemoryStore();
  const labels = await loadWorkspaceLabels(store);
  assert.equal(labels.join("/a", []), undefined);
  const first = labels.join("/a", ["x"]);
  const second = labels.join("/a", ["x"]);
  assert.ok(first !== undefined && second !== undefined);
  await write(store, first);
  assert.equal(labels.join("/a", ["x"]), undefined);
  assert.ok(labels.join("/a", ["x", "y"]) !== undefined);
  // What was said before the other label came is written with it.
  await write(store, second);
  assert.deepEqual((await loadWorkspaceLabels(store)).get("/a"), ["x", "y"]);
});

test("a record that becomes durable after its labels were cleared does not cover later labels", async () => {
  const store = createMemoryStore();
  const labels = await loadWorkspaceLabels(store);
  const early = labels.join("/a", ["x"]);
  const cleared = labels.clear("/a", "ann");
  await write(store, early);
  await write(store, cleared);
  assert.deepEqual((await loadWorkspaceLabels(store)).get("/a"), []);
  await write(store, labels.join("/a", ["x"]));
  assert.deepEqual((await loadWorkspaceLabels(store)).get("/a"), ["x"]);
});

test("directories over the limit are labelled all at once, and none is forgotten", async () => {
  const store = createMemoryStore();
  const labels = await loadWorkspaceLabels(store);
  for (let number = 0; number < MAX_LABELLED_WORKSPACES; number++) labels.join(`/many/${number}`, ["x"]);
  assert.deepEqual(labels.get("/elsewhere"), []);
  await write(store, labels.join("/elsewhere", ["secret"]));
  for (const path of ["/elsewhere", "/many/1", "/never/seen"]) assert.ok(labels.get(path).includes("secret"), path);
  assert.deepEqual((await loadWorkspaceLabels(store)).get("/elsewhere"), ["secret"]);
});

test("an unreadable row stops the kernel instead of losing a label", async () => {
  const store = createMemoryStore();
  const [hash, record] = [new Uint8Array(32), new Uint8Array()];
  const state = [{ table: "workspaces" as const, key: "/a", value: Buffer.from('{"x":1}') }];
  await store.append({ index: 0, chain: "c", sequence: 0, requestId: "", hash, record, content: [], state });
  await assert.rejects(loadWorkspaceLabels(store), { code: "STORE_UNAVAILABLE" });
});
