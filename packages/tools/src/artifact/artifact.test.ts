import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type JsonValue, toHex, utf8 } from "@narthex/contracts";
import type { Artifact, UnsettledIntent } from "@narthex/kernel";
import { createTestKernel, type TestKernel, type TestSession } from "@narthex/testkit";
import { artifactGet, artifactPublish } from "./index.ts";

describe("artifacts", () => {
  let test: TestKernel;
  let session: TestSession;
  let content_hash: string;
  before(async () => {
    test = await createTestKernel({ tools: [artifactGet, artifactPublish] });
    session = await test.open();
    content_hash = await store(session, "the content");
  });
  after(() => test.kernel.close());

  async function store(owner: TestSession, text: string): Promise<string> {
    const chunks = async function* () {
      yield utf8(text);
    };
    return toHex(
      (await test.kernel.putContent({ sessionId: owner.id, door: "test", labels: [], chunks: chunks() })).hash,
    );
  }

  async function failure(tool: string, input: JsonValue, from: TestSession = session) {
    const { response } = await from.call(tool, input);
    assert.equal(response.result.case, "error", JSON.stringify(input).slice(0, 100));
    const error = response.result.case === "error" ? response.result.value : assert.fail();
    return { code: error.errorCode, broken: error.violations.map(({ field, rule }) => `${field} ${rule}`) };
  }

  it("obey the wire's limits in their JSON form too", async () => {
    const draft = { artifact_id: "a", content_hash, category: "c" };
    const wrong: [JsonValue, string[]][] = [
      [{}, ["artifact_id required", "content_hash required", "category required"]],
      [{ ...draft, artifact_id: "" }, ["artifact_id required"]],
      [{ ...draft, artifact_id: "x".repeat(257) }, ["artifact_id max_length"]],
      [{ ...draft, content_hash: "00" }, ["content_hash format"]],
      [{ ...draft, category: "" }, ["category required"]],
      [{ ...draft, category: "x".repeat(257) }, ["category max_length"]],
      [{ ...draft, metadata: Array.from({ length: 1_001 }, () => "a=b") }, ["metadata max_items"]],
      [{ ...draft, metadata: ["a=b", "ab", "a=b=c"] }, ["metadata[1] format", "metadata[2] format"]],
      [{ ...draft, metadata: [`k=${"é".repeat(17_000)}`] }, ["metadata[0] format", "metadata[0] max_length"]],
      [{ ...draft, owner: "me" }, ["owner unknown_field"]],
    ];
    for (const [input, broken] of wrong) {
      assert.deepEqual(await failure("artifact_publish", input), { code: "INVALID_INPUT", broken });
    }
    const most = {
      ...draft,
      artifact_id: "🐲".repeat(256),
      metadata: Array.from({ length: 1_000 }, (_, i) => `${i}=b`),
    };
    assert.equal((await session.call("artifact_publish", most)).status, "success");
  });

  it("cannot be made from content that the session does not hold", async () => {
    const input = { artifact_id: "stolen", content_hash: "00".repeat(32), category: "c" };
    assert.equal((await failure("artifact_publish", input)).code, "CONTENT_NOT_FOUND");
    assert.equal(
      (await failure("artifact_publish", { ...input, content_hash }, await test.open())).code,
      "CONTENT_NOT_FOUND",
    );
    assert.equal((await failure("artifact_get", { artifact_id: "stolen" })).code, "CONTENT_NOT_FOUND");
  });

  it("need the right to their category", async () => {
    const narrow = await test.open({ lease: { capabilities: [{ kind: "artifact", names: ["reports"] }] } });
    const hash = await store(narrow, "mine");
    const call = (category: string) =>
      narrow.call("artifact_publish", { artifact_id: `in-${category}`, content_hash: hash, category });
    const denied = await call("secrets");
    assert.equal(
      denied.response.result.case === "denied" && denied.response.result.value.rationaleCode,
      "CAPABILITY_MISSING",
    );
    assert.equal((await call("reports")).status, "success");
  });

  it("are published once and found by other sessions of the tenant", async () => {
    const draft = { artifact_id: "report-1", content_hash, category: "reports", metadata: ["format=text"] };
    const published = await session.call("artifact_publish", draft);
    assert.equal(published.status, "success");
    const found = await (await test.open()).call("artifact_get", { artifact_id: "report-1" });
    assert.deepEqual(found.raw, published.raw);
    assert.equal((found.raw as unknown as Artifact).size, 11);
    assert.deepEqual((await session.call("artifact_publish", draft)).raw, published.raw);
  });

  it("never change", async () => {
    const draft = { artifact_id: "report-2", content_hash, category: "reports" };
    assert.equal((await session.call("artifact_publish", draft)).status, "success");
    const other = await store(session, "other content");
    assert.equal((await failure("artifact_publish", { ...draft, content_hash: other })).code, "ARTIFACT_EXISTS");
    assert.equal((await failure("artifact_publish", { ...draft, category: "other" })).code, "ARTIFACT_EXISTS");
  });
});

describe("a publication that a crash interrupted", () => {
  const artifact: Artifact = {
    artifact_id: "a",
    content_hash: "11".repeat(32),
    category: "c",
    metadata: ["k=v"],
    size: 3,
    published_at_ms: 5,
  };
  const intent: UnsettledIntent = {
    sessionId: "s",
    session: { id: "session", tenant: "tenant", workspace: "/w", workingDirectory: "/w" },
    tenant: "t",
    requestId: "r",
    input: { artifact_id: "a", content_hash: "11".repeat(32), category: "c", metadata: ["k=v"] },
  };
  const settle = (found: (Artifact & { requestId: string }) | undefined, lost: UnsettledIntent = intent) =>
    artifactPublish.reconcile?.(lost, {
      findArtifact: async () => found,
      inspectFile: noFiles,
      readFile: noFiles,
      inspectVault: noFiles,
      wasPlaced: () => false,
    });
  const noFiles = (): Promise<never> => Promise.reject(new Error("artifacts are no files"));

  it("did not happen if the name is free, or was given by another call", async () => {
    assert.equal(await settle(undefined), "did_not_happen");
    assert.equal(await settle({ ...artifact, requestId: "another" }), "did_not_happen");
    assert.equal(await settle({ ...artifact, requestId: "r", content_hash: "22".repeat(32) }), "did_not_happen");
    assert.equal(await settle({ ...artifact, requestId: "r", category: "d" }), "did_not_happen");
  });

  it("is unknown if its input cannot be read", async () => {
    assert.equal(await settle({ ...artifact, requestId: "r" }, { ...intent, input: null }), "unknown");
  });

  it("happened if this very call published this very content, and then answers as it would have", async () => {
    assert.deepEqual(await settle({ ...artifact, requestId: "r" }), { happened: artifact });
  });
});
