import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, toHex } from "@narthex/contracts";
import { createMemoryContentStore, createMemoryStore } from "@narthex/testkit";
import { createLabelledKernel, type LabelledKernel } from "../label/testing/labelled-kernel.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

const many = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `label-${from + index}`);
const bytes = (hash: string) => Uint8Array.from(Buffer.from(hash, "hex"));

/** The code and the fields named; nothing is written and no session is left. */
async function refusal({ kernel, store }: LabelledKernel, attempt: Promise<unknown>) {
  const [records, sessions] = [store.size, (await kernel.listSessions({ all: true, limit: 1000 })).length];
  try {
    await attempt;
  } catch (fault) {
    assert.ok(isKernelError(fault), String(fault));
    assert.deepEqual([store.size, (await kernel.listSessions({ all: true, limit: 1000 })).length], [records, sessions]);
    return { code: fault.code, fields: fault.violations.map(({ field }) => field) };
  }
  return assert.fail("it was not refused");
}

test("opening, delegation and content reject the same invalid labels", async () => {
  const at = await createLabelledKernel();
  const { token, id } = await at.open();
  const hostile: readonly (readonly [readonly string[], readonly string[]])[] = [
    [["fine", "Secret"], ["labels[1]"]],
    [[""], ["labels[0]"]],
    [
      ["a b", "a,b", "ä", "-a", "1a", "a\u0000", "a\n", "\u001b[31m", "a\u202e"],
      [...Array(9).keys()].map((n) => `labels[${n}]`),
    ],
    [["a".repeat(65)], ["labels[0]"]],
    [["x".repeat(10_000)], ["labels[0]"]],
    [["__proto__", "constructor"], ["labels[0]"]],
    [many(65), ["labels"]],
    [Array(17).fill("same"), ["labels"]],
  ];
  for (const [labels, fields] of hostile) {
    const expected = { code: "INVALID_INPUT", fields };
    const what = JSON.stringify(labels).slice(0, 60);
    assert.deepEqual(await refusal(at, at.kernel.openSession({ workspace: "/workspace", labels })), expected, what);
    assert.deepEqual(await refusal(at, at.kernel.delegateLease({ token, labels })), expected, what);
    assert.deepEqual(await refusal(at, at.put(id, "content", labels)), expected, what);
  }
  assert.deepEqual(await at.labelsOf(id), []);
});

test("delegation cannot exceed a session's limit of labels", async () => {
  const at = await createLabelledKernel();
  let deepest: { readonly token: string } = await at.open();
  for (const from of [0, 16, 32, 48]) deepest = await delegate(at, deepest, { labels: many(16, from) });
  const { token } = deepest;
  const refused = await refusal(at, at.kernel.delegateLease({ token, labels: ["one-more"] }));
  assert.deepEqual(refused, { code: "INVALID_INPUT", fields: ["labels"] });
  await delegate(at, deepest, { labels: ["label-3"] });
});

test("a session opened with labels has them on all it makes, in its children, in its ledger and after a restart", async () => {
  const [store, contentStore] = [createMemoryStore(), createMemoryContentStore()];
  const at = await createLabelledKernel({ store, contentStore });
  const session = await at.open({ labels: ["untrusted", "secret", "secret"] });
  assert.deepEqual((await session.call("echo", 1)).metadata.labels, ["secret", "untrusted"]);
  const child = await delegate(at, session, { labels: ["own"] });
  const [opening] = await at.records(child.id);
  const adopted = opening?.entries.flatMap(({ kind }) => (kind.case === "labelsAdopted" ? kind.value.labels : []));
  assert.deepEqual(adopted, ["own", "secret", "untrusted"]);
  const plain = await at.open();
  const kinds = (await at.records(plain.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
  assert.deepEqual(kinds, ["sessionOpened", "leaseGranted"]);
  await session.call("write_there", {});
  const next = await createLabelledKernel({ store, contentStore, random: nextRandom() });
  assert.deepEqual(await next.labelsOf(session.id), ["secret", "untrusted"]);
  assert.deepEqual(await next.labelsOf(child.id), ["own", "secret", "untrusted"]);
  const reader = await next.open();
  assert.deepEqual((await reader.call("read_there", {})).metadata.labels, ["secret", "untrusted"]);
  await verifyStore(store, contentStore);
});

test("rejects a delegation with content that the parent may not name, whatever else it grants", async () => {
  const at = await createLabelledKernel();
  const parent = await at.open();
  const child = await delegate(at, parent);
  const mine = await at.put(parent.id, "mine");
  const foreign = await at.put((await at.open()).id, "a stranger's");
  const attempt = (token: string, ...hashes: readonly Uint8Array[]) =>
    refusal(at, at.kernel.delegateLease({ token, contentHashes: hashes }));
  const missing = { code: "CONTENT_NOT_FOUND", fields: [] };
  assert.deepEqual(await attempt(parent.token, bytes(mine), bytes(foreign)), missing);
  assert.deepEqual(await attempt(parent.token, new Uint8Array(32)), missing);
  for (const length of [0, 31, 33]) assert.deepEqual(await attempt(parent.token, new Uint8Array(length)), missing);
  // A child cannot hand on what its parent holds, nor reach up by having a child of its own.
  assert.deepEqual(await attempt(child.token, bytes(mine)), missing);
  const tooMany = Array.from({ length: 101 }, () => bytes(mine));
  assert.deepEqual(await attempt(parent.token, ...tooMany), { code: "INVALID_INPUT", fields: ["content_hashes"] });
});

test("a child can name granted content, with its labels, from its first call and delegate it; others cannot", async () => {
  const [store, contentStore] = [createMemoryStore(), createMemoryContentStore()];
  const at = await createLabelledKernel({ store, contentStore });
  const parent = await at.open();
  const plain = await at.put(parent.id, "plain");
  const contentHashes = [bytes(plain), bytes(plain)];
  const clean = await delegate(at, parent, { contentHashes });
  assert.equal(codeOf(await clean.call("take", { hash: plain })), "success");
  assert.deepEqual(await at.labelsOf(clean.id), []);
  assert.equal(codeOf(await (await delegate(at, parent)).call("take", { hash: plain })), "CONTENT_NOT_FOUND");

  // It lies with the child's own child, and its labels come up only to who reads it.
  const labelled = await at.put(clean.id, "x".repeat(100_000), ["secret"]);
  assert.deepEqual(await at.labelsOf(parent.id), []);
  const child = await delegate(at, parent, { contentHashes: [bytes(labelled)], labels: ["own"] });
  assert.deepEqual(await at.labelsOf(parent.id), []);
  assert.deepEqual(await at.labelsOf(child.id), ["own", "secret"]);
  const [opening] = await at.records(child.id);
  assert.deepEqual(
    opening?.entries.map(({ kind }) => kind.case),
    ["sessionOpened", "leaseDelegated", "labelsAdopted"],
  );
  const next = await createLabelledKernel({ store, contentStore, random: nextRandom() });
  const taken = await next.kernel.callInProcess({ token: child.token, tool: "take", input: { hash: labelled } });
  assert.deepEqual(taken.metadata.labels, ["own", "secret"]);
  const below = await delegate(next, child, { contentHashes: [bytes(labelled)] });
  assert.equal((await next.kernel.getContent(below.id, bytes(labelled), 0, 0)).size, 100_000);
  const echoed = toHex((await below.call("echo", "derived")).hash ?? assert.fail());
  const stolen = { token: clean.token, tool: "take", input: { hash: echoed } };
  assert.equal(codeOf(await next.kernel.callInProcess(stolen)), "CONTENT_NOT_FOUND");
  await verifyStore(store, contentStore);
});

test("a handed-over workspace is recorded as such only in the record that opens its session", async () => {
  const handed: string[] = [];
  const at = await createLabelledKernel({
    adoptWorkspace: async (workspace) => workspace === "/of-root" && handed.push(workspace) > 0,
  });
  const adopted = async (open: Parameters<typeof at.open>[0]) => {
    const [opening] = await at.records((await at.open(open)).id);
    const kind = opening?.entries[0]?.kind;
    return kind?.case === "sessionOpened" ? kind.value.adopted : assert.fail();
  };
  assert.equal(await adopted({ workspace: "/of-root" }), false);
  assert.equal(await adopted({ workspace: "/of-somebody", adopt: true }), false);
  assert.equal(await adopted({ workspace: "/of-root", adopt: true }), true);
  assert.deepEqual(handed, ["/of-root"]);
  await verifyStore(at.store);
});
