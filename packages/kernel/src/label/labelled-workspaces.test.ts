import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryStore, createTestPolicy } from "@narthex/testkit";
import { codeOf, nextRandom, delegate } from "../session/testing/delegated-session.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { createLabelledKernel, labelTools } from "./testing/labelled-kernel.ts";

const A = "/projects/a";

test("output of a labelled session labels every session that reads there, around it and inside it, and no other", async () => {
  const at = await createLabelledKernel();
  const writer = await at.open({ workspace: A });
  await at.put(writer.id, "s", ["secret"]);
  const reads = async (workspace: string) => {
    const session = await at.open({ workspace });
    const { metadata } = await session.call("read_there", {});
    assert.deepEqual(await at.labelsOf(session.id), metadata.labels, workspace);
    return metadata.labels;
  };
  assert.deepEqual(await reads(A), []);
  assert.equal((await writer.call("write_there", {})).status, "success");
  for (const workspace of [A, "/projects", `${A}/inside`])
    assert.deepEqual(await reads(workspace), ["secret"], workspace);
  for (const workspace of ["/projects/ab", "/projects/b"]) assert.deepEqual(await reads(workspace), [], workspace);
  await verifyStore(at.store);
});

test("a read-only session with labels leaves its workspace unlabelled", async () => {
  const at = await createLabelledKernel();
  const reader = await at.open({ workspace: A });
  await at.put(reader.id, "s", ["secret"]);
  await reader.call("read_there", {});
  await reader.call("echo", 1);
  assert.deepEqual(await at.kernel.listWorkspaceLabels(A), []);
});

test("labels pass from workspace to session to the next workspace", async () => {
  const at = await createLabelledKernel();
  const first = await at.open({ workspace: A });
  await at.put(first.id, "s", ["secret"]);
  await first.call("write_there", {});
  // The outer session reads what lies inside its own workspace and writes: now all of it is labelled.
  const outer = await at.open({ workspace: "/projects" });
  await outer.call("write_there", {});
  const neighbour = await at.open({ workspace: "/projects/b" });
  assert.deepEqual((await neighbour.call("read_there", {})).metadata.labels, ["secret"]);
});

test("the workspace is labelled before a labelled session's tool runs, and keeps the label if the kernel stops then", async () => {
  const store = createMemoryStore();
  const seen: string[] = [];
  const writing = async () => {
    for (const { key, value } of await store.listState("workspaces", "", 10))
      seen.push(key, Buffer.from(value).toString());
  };
  const tools = labelTools({ writing });
  const at = await createLabelledKernel({ store, tools });
  const writer = await at.open({ workspace: A });
  await at.put(writer.id, "s", ["secret"]);
  await writer.call("write_there", {});
  assert.deepEqual(seen, [A, '["secret"]']);
  const started = (await at.records(writer.id)).find(({ entries }) =>
    entries.some(({ kind }) => kind.case === "toolStarted"),
  );
  const kinds = started?.entries.map(({ kind }) => kind.case);
  assert.deepEqual(kinds?.slice(-2), ["workspaceLabelled", "toolStarted"]);
});

test("labels that a writing call gains are durable on session and workspace before it gets the content", async () => {
  const store = createMemoryStore();
  const stopped = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const tools = labelTools({
    writing: async () => {
      begun.resolve();
      await stopped.promise;
    },
  });
  const at = await createLabelledKernel({ store, tools });
  const parent = await at.open({ workspace: A });
  const child = await delegate(at, parent);
  const hash = await at.put(child.id, "s", ["secret"]);
  assert.deepEqual(await at.labelsOf(parent.id), []);
  const placing = parent.call("place", { hash });
  await begun.promise;
  // As after a crash: another kernel on what is durable now.
  const next = await createLabelledKernel({ store, random: nextRandom() });
  assert.deepEqual(await next.labelsOf(parent.id), ["secret"]);
  const reader = await next.open({ workspace: A });
  assert.deepEqual((await reader.call("read_there", {})).metadata.labels, ["secret"]);
  stopped.resolve();
  await placing;
});

test("output is shown only after its labels are durable on the session", async () => {
  const store = createMemoryStore();
  const at = await createLabelledKernel({ store });
  const parent = await at.open({ workspace: A });
  const child = await delegate(at, parent);
  const hash = await at.put(child.id, "s", ["secret"]);
  const rows: string[] = [];
  const usageOf = async (id: string) => Buffer.from((await store.getState("sessions", `${id}/usage`)) ?? []).toString();
  const onChunk = async () => void rows.push(await usageOf(parent.id));
  assert.equal((await parent.call("take", { hash }, { onChunk })).status, "success");
  await parent.call("write_there", {});
  const reader = await at.open({ workspace: A });
  await reader.call("read_there", {}, { onChunk: async () => void rows.push(await usageOf(reader.id)) });
  assert.equal(rows.length, 2);
  for (const row of rows) assert.match(row, /"labels":\["secret"\]/);
  await verifyStore(store);
});

test("a call that fails after a write leaves its labels", async () => {
  const at = await createLabelledKernel();
  const writer = await at.open({ workspace: A });
  await at.put(writer.id, "s", ["secret"]);
  assert.equal((await writer.call("write_there", "fail")).status, "error");
  const reader = await at.open({ workspace: A });
  assert.deepEqual((await reader.call("read_there", {})).metadata.labels, ["secret"]);
});

test("a repeat carries the labels of the first response, by id and by key, and after a restart", async () => {
  const store = createMemoryStore();
  const at = await createLabelledKernel({ store });
  const writer = await at.open({ workspace: A });
  await at.put(writer.id, "s", ["secret"]);
  await writer.call("write_there", {});
  const reader = await at.open({ workspace: A });
  const asked = { requestId: "r1", dedupeKey: "k" };
  assert.deepEqual((await reader.call("read_there", {}, asked)).metadata.labels, ["secret"]);
  await at.kernel.clearWorkspaceLabels({ workspace: A, by: "ann" });
  for (const next of [() => at, () => createLabelledKernel({ store, random: nextRandom() })]) {
    const { kernel } = await next();
    for (const again of [asked, { ...asked, requestId: `other ${kernel.recordCount()}` }]) {
      const { token } = reader;
      const repeated = await kernel.callInProcess({ token, tool: "read_there", input: {}, ...again });
      assert.ok(repeated.response.result.case === "success" && repeated.response.result.value.repeatedAnswer);
      assert.deepEqual(repeated.metadata.labels, ["secret"]);
    }
  }
});

test("a person removes labels from exactly one directory; a later writer may add them again", async () => {
  const store = createMemoryStore();
  const at = await createLabelledKernel({ store });
  const writer = await at.open({ workspace: A });
  await at.put(writer.id, "s", ["secret"]);
  await writer.call("write_there", {});
  assert.deepEqual(await at.kernel.listWorkspaceLabels("/projects"), [{ workspace: A, labels: ["secret"] }]);
  const message = /has no labels of its own; those in force there are of `\/projects\/a`/;
  const clear = (workspace: string, by = "ann") => at.kernel.clearWorkspaceLabels({ workspace, by });
  await assert.rejects(clear("/projects"), { code: "WORKSPACE_REFUSED", message });
  for (const wrong of [
    "",
    "a",
    "./a",
    "/projects/../projects/a",
    `${A}/`,
    "/projects\0",
    "/projects/a\n",
    `/${"a".repeat(5000)}`,
  ]) {
    await assert.rejects(clear(wrong), { code: "INVALID_INPUT" }, wrong.slice(0, 20));
    await assert.rejects(at.kernel.listWorkspaceLabels(wrong), { code: "INVALID_INPUT" });
  }
  for (const nobody of ["", " ", "\n"]) await assert.rejects(clear(A, nobody), { code: "INVALID_INPUT" });
  const { recordIndex, labels } = await clear(A);
  assert.deepEqual(labels, ["secret"]);
  const { entries } = (await at.records("system")).find(({ index }) => Number(index) === recordIndex) ?? assert.fail();
  const [{ kind } = assert.fail()] = entries;
  assert.ok(kind.case === "workspaceLabelled");
  assert.deepEqual([kind.value.workspace, kind.value.labels, kind.value.by], [A, [], "ann"]);
  await assert.rejects(clear(A), { code: "WORKSPACE_REFUSED" });
  const fresh = await at.open({ workspace: A });
  assert.deepEqual((await fresh.call("read_there", {})).metadata.labels, []);
  assert.deepEqual(await at.labelsOf(writer.id), ["secret"]);
  const next = await createLabelledKernel({ store, random: nextRandom() });
  assert.deepEqual(await next.kernel.listWorkspaceLabels(A), []);
  await next.kernel.callInProcess({ token: writer.token, tool: "write_there", input: {} });
  assert.deepEqual((await (await next.open({ workspace: A })).call("read_there", {})).metadata.labels, ["secret"]);
  await verifyStore(store);
});

const SECRET = {
  contains: { left: { ".": { left: { Var: "context" }, attr: "labels" } }, right: { Value: "secret" } },
};

test("rules see the labels of the session, of the call's workspace, and of the content it reads", async () => {
  const sent: string[] = [];
  const tools = labelTools({ sent: (bytes) => void sent.push(Buffer.from(bytes).toString()) });
  const rules = [
    { id: "all", approve: "none" as const },
    ...["send", "upload"].map((action) => ({ id: `no-${action}`, action, effect: "forbid" as const, when: SECRET })),
  ];
  const at = await createLabelledKernel({ tools, policy: createTestPolicy(rules, tools) });
  const clean = await at.open({ workspace: A });
  const hash = await at.put(clean.id, "public");
  assert.equal(codeOf(await clean.call("upload", {})), "success");

  const writer = await at.open({ workspace: A });
  await at.put(writer.id, "s", ["secret"]);
  assert.equal(codeOf(await writer.call("send", { hash: await at.put(writer.id, "x") })), "POLICY_DENIED");
  await writer.call("write_there", {});
  // It has read nothing there yet: it may send its own, and not what lies there.
  assert.equal(codeOf(await clean.call("upload", {})), "POLICY_DENIED");
  assert.equal(codeOf(await clean.call("send", { hash })), "success");
  await clean.call("read_there", {});
  assert.equal(codeOf(await clean.call("send", { hash })), "POLICY_DENIED");

  const parent = await at.open({ workspace: "/elsewhere" });
  const child = await delegate(at, parent);
  const hidden = await at.put(child.id, "hidden", ["secret"]);
  assert.equal(codeOf(await parent.call("send", { hash: hidden })), "POLICY_DENIED");
  assert.deepEqual(sent, ["public"]);
  await verifyStore(at.store);
});
