import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@narthex/contracts";
import { createTestKernel, type TestKernel, type TestSession } from "@narthex/testkit";
import type { CallResult } from "../kernel.ts";
import { verifyStore } from "../testing/verify-store.ts";
import { defineTool } from "../tool/define-tool.ts";

const anyRight = [{ kind: "artifact", names: ["*"] }] as const;

const publish = defineTool({
  name: "publish",
  description: "Publishes.",
  inputSchema: {
    type: "object",
    properties: { id: { type: "string" }, hash: { type: "string" } },
    required: ["id", "hash"],
  },
  effects: ["artifact"],
  capabilities: anyRight,
  run: async ({ id, hash }, { artifacts }) => {
    const made = await artifacts.publish({ artifact_id: id, content_hash: hash, category: "c", metadata: ["k=v"] });
    return { ...made, metadata: [...made.metadata] };
  },
});

const get = defineTool({
  name: "get",
  description: "Gets.",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  tier: "read_only",
  run: async ({ id }, { artifacts }) => (await artifacts.get(id))?.content_hash ?? null,
});

const read = defineTool({
  name: "read",
  description: "Reads.",
  inputSchema: { type: "string" },
  tier: "read_only",
  resultType: "binary",
  run: (hash, { content }) => content.read(hash, 0, 0),
});

const codeOf = ({ response: { result } }: CallResult) =>
  result.case === "error" ? result.value.errorCode : result.case;

async function put(
  { kernel }: TestKernel,
  { id }: TestSession,
  text: string,
  labels: readonly string[] = [],
): Promise<string> {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  return toHex((await kernel.putContent({ sessionId: id, door: "test", labels, chunks })).hash);
}

const create = () => createTestKernel({ tools: [publish, get, read] });

test("exactly one of many concurrent publishers of different content under one name succeeds", async () => {
  const kernel = await create();
  const sessions = await Promise.all(Array.from({ length: 10 }, () => kernel.open()));
  const calls = sessions.map(async (session, i) =>
    session.call("publish", { id: "name", hash: await put(kernel, session, `text ${i}`) }),
  );
  const codes = (await Promise.all(calls)).map(codeOf);
  assert.deepEqual(
    codes.toSorted((a, b) => String(a).localeCompare(String(b))),
    [...Array(9).fill("ARTIFACT_EXISTS"), "success"],
  );
  const published = (await kernel.records()).flatMap(({ entries }) =>
    entries.filter(({ kind }) => kind.case === "artifactPublished"),
  );
  assert.equal(published.length, 1);
  await verifyStore(kernel.store);
});

test("publishing the same content again gets the same response", async () => {
  const kernel = await create();
  const session = await kernel.open();
  const hash = await put(kernel, session, "text");
  const results = await Promise.all(Array.from({ length: 5 }, () => session.call("publish", { id: "name", hash })));
  assert.equal(new Set(results.map(({ hash: result }) => toHex(result ?? assert.fail()))).size, 1);
});

test("artifact names are separate per tenant, whatever characters they contain", async () => {
  const kernel = await create();
  const [one, two] = [await kernel.open({ tenant: "a" }), await kernel.open({ tenant: "a b" })];
  await one.call("publish", { id: "b\nname", hash: await put(kernel, one, "one") });
  await one.call("publish", { id: "name", hash: await put(kernel, one, "two") });
  assert.equal((await two.call("get", { id: "name" })).raw, null);
  assert.equal((await two.call("get", { id: "b\nname" })).raw, null);
  await assert.rejects(kernel.open({ tenant: "a\nb" }), { code: "INVALID_INPUT" });
});

test("rejects publishing content that a session does not hold, without revealing whether it exists", async () => {
  const kernel = await create();
  const [owner, stranger] = [await kernel.open(), await kernel.open()];
  const hash = await put(kernel, owner, "text");
  for (const named of [hash, "00".repeat(32), "zz", ""]) {
    assert.equal(codeOf(await stranger.call("publish", { id: "name", hash: named })), "CONTENT_NOT_FOUND");
  }
});

test("a session that gets an artifact may read it, and takes on its labels and its publisher's", async () => {
  const kernel = await create();
  const [owner, reader] = [await kernel.open(), await kernel.open()];
  const hash = await put(kernel, owner, "text", ["secret"]);
  await put(kernel, owner, "other", ["untrusted"]);
  await owner.call("publish", { id: "name", hash });
  assert.equal(codeOf(await reader.call("read", hash)), "CONTENT_NOT_FOUND");
  assert.equal((await reader.call("get", { id: "name" })).raw, hash);
  assert.deepEqual((await kernel.kernel.getSession(reader.id))?.session.labels, ["secret", "untrusted"]);
  const { normalised, metadata } = await reader.call("read", hash);
  assert.equal(Buffer.from(normalised ?? []).toString(), "text");
  assert.deepEqual(metadata.labels, ["secret", "untrusted"]);
  await verifyStore(kernel.store);
});
