import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, canonicalJsonBytes, fromHex, toHex } from "@narthex/contracts";
import { createMemoryContentStore, createMemoryStore } from "@narthex/testkit";
import { codeOf, nextRandom, delegate } from "../session/testing/delegated-session.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { createLabelledKernel } from "./testing/labelled-kernel.ts";

const bytesOf = (hash: string): Uint8Array => fromHex(hash) ?? assert.fail();

test("only an ancestor can name a session's content: no stranger, no sibling, no child", async () => {
  const at = await createLabelledKernel();
  const parent = await at.open();
  const child = await delegate(at, parent);
  const [mine, childs] = [await at.put(parent.id, "the parent's"), await at.put(child.id, "the child's")];
  const sibling = await delegate(at, parent);
  const stranger = await at.open();
  for (const [session, hash] of [
    [child, mine],
    [sibling, mine],
    [sibling, childs],
    [stranger, childs],
    [stranger, mine],
  ] as const) {
    assert.equal(codeOf(await session.call("take", { hash })), "CONTENT_NOT_FOUND");
    await assert.rejects(at.kernel.getContent(session.id, bytesOf(hash), 0, 0), { code: "CONTENT_NOT_FOUND" });
  }
});

test("a session can name its descendants' content, at any depth, after they ended, and after a restart", async () => {
  const [store, contentStore] = [createMemoryStore(), createMemoryContentStore()];
  const at = await createLabelledKernel({ store, contentStore });
  const root = await at.open();
  const child = await delegate(at, root);
  const deep = await delegate(at, child);
  const put = await at.put(deep.id, "x".repeat(100_000));
  const result = await deep.call("echo", "received");
  const received = toHex(result.hash ?? assert.fail());
  await at.kernel.closeSession(deep.id);
  for (const next of [() => at, () => createLabelledKernel({ store, contentStore, random: nextRandom() })]) {
    const { kernel } = await next();
    for (const { token, id } of [root, child]) {
      const taken = await kernel.callInProcess({ token, tool: "take", input: { hash: received } });
      assert.equal(Buffer.from(taken.normalised ?? []).toString(), '"received"');
      assert.equal((await kernel.getContent(id, bytesOf(put), 0, 0)).size, 100_000);
    }
  }
});

test("a child's labels reach its parent only when the parent reads its content", async () => {
  const at = await createLabelledKernel();
  const [byTool, byDoor, idle] = [await at.open(), await at.open(), await at.open()];
  for (const parent of [byTool, byDoor, idle]) {
    const child = await delegate(at, parent);
    await at.put(child.id, `s ${parent.id}`, ["secret"]);
    // It holds no labelled content itself; but its session is labelled by now.
    const made = await child.call("echo", "derived");
    assert.deepEqual(await at.labelsOf(parent.id), []);
    if (parent === byTool) await parent.call("take", { hash: toHex(made.hash ?? assert.fail()) });
    if (parent === byDoor) await at.kernel.getContent(parent.id, made.hash ?? assert.fail(), 0, 0);
  }
  assert.deepEqual(await at.labelsOf(byTool.id), ["secret"]);
  assert.deepEqual(await at.labelsOf(byDoor.id), ["secret"]);
  assert.deepEqual(await at.labelsOf(idle.id), []);
});

test("labels the input of a labelled session, also where the call is refused", async () => {
  const at = await createLabelledKernel();
  const parent = await at.open();
  const child = await delegate(at, parent);
  await at.put(child.id, "s", ["secret"]);
  const input = { hash: "the password is hunter2" };
  assert.equal(codeOf(await child.call("take", input)), "CONTENT_NOT_FOUND");
  const reading = await at.kernel.getContent(parent.id, blake3(canonicalJsonBytes(input)), 0, 0);
  assert.deepEqual(reading.labels, ["secret"]);
  assert.deepEqual(await at.labelsOf(parent.id), ["secret"]);
});

test("content put without labels gets those of its session", async () => {
  const at = await createLabelledKernel();
  const session = await at.open();
  await at.put(session.id, "s", ["secret"]);
  const hash = await at.put(session.id, "the same thing in other words");
  assert.deepEqual((await at.kernel.getContent(session.id, bytesOf(hash), 0, 0)).labels, ["secret"]);
});

test("a reader of bytes held with different labels gets those of every reference it can see", async () => {
  const at = await createLabelledKernel();
  const parent = await at.open();
  const child = await delegate(at, parent);
  const stranger = await at.open();
  const hash = await at.put(parent.id, "same", ["own"]);
  await at.put(child.id, "same", ["secret"]);
  await at.put(stranger.id, "same", ["other"]);
  const reading = await at.kernel.getContent(parent.id, bytesOf(hash), 0, 0);
  assert.deepEqual(reading.labels, ["own", "secret"]);
  assert.deepEqual((await at.kernel.getContent(stranger.id, bytesOf(hash), 0, 0)).labels, ["other"]);
});

test("content is granted to descendants only, by a session that can name it, and carries the giver's labels", async () => {
  const [store, contentStore] = [createMemoryStore(), createMemoryContentStore()];
  const at = await createLabelledKernel({ store, contentStore });
  const { kernel } = at;
  const parent = await at.open();
  const child = await delegate(at, parent);
  const deep = await delegate(at, child);
  const stranger = await at.open();
  const hash = await at.put(parent.id, "for the child");
  const foreign = await at.put(stranger.id, "a stranger's");
  const grant = (from: string, to: string, what: string) =>
    kernel.grantContent({ sessionId: from, toSessionId: to, hash: bytesOf(what) });
  await assert.rejects(grant(parent.id, stranger.id, hash), { code: "SESSION_UNKNOWN" });
  await assert.rejects(grant(child.id, parent.id, hash), { code: "SESSION_UNKNOWN" });
  await assert.rejects(grant(parent.id, parent.id, hash), { code: "SESSION_UNKNOWN" });
  await assert.rejects(grant(parent.id, child.id, foreign), { code: "CONTENT_NOT_FOUND" });
  assert.equal(codeOf(await deep.call("take", { hash })), "CONTENT_NOT_FOUND");
  await grant(parent.id, deep.id, hash);
  assert.equal(codeOf(await deep.call("take", { hash })), "success");
  const derived = toHex((await parent.call("echo", "derived")).hash ?? assert.fail());
  const labelled = await at.put(parent.id, "s", ["secret"]);
  const granted = await grant(parent.id, deep.id, derived);
  assert.deepEqual(granted.labels, ["secret"]);
  assert.deepEqual(await at.labelsOf(deep.id), ["secret"]);
  assert.equal(codeOf(await deep.call("take", { hash: labelled })), "CONTENT_NOT_FOUND");
  const next = await createLabelledKernel({ store, contentStore, random: nextRandom() });
  const again = await next.kernel.getContent(deep.id, bytesOf(derived), 0, 0);
  assert.deepEqual(again.labels, ["secret"]);
  await verifyStore(store, contentStore);
});

test("limits the number of labels that a session can put on its content", async () => {
  const at = await createLabelledKernel();
  const session = await at.open();
  const sixteen = (from: number) => Array.from({ length: 16 }, (_, number) => `label-${from + number}`);
  for (const from of [0, 16, 32, 48]) await at.put(session.id, `${from}`, sixteen(from));
  await assert.rejects(at.put(session.id, "more", ["one-more"]), { code: "INVALID_INPUT" });
  await at.put(session.id, "again", ["label-5"]);
  await session.call("write_there", {});
  const other = await at.open();
  await assert.rejects(at.put(other.id, "more", ["one-more"]), { code: "INVALID_INPUT" });
});
