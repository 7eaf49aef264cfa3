import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { blake3, type JsonValue, toHex, utf8 } from "@narthex/contracts";
import { createTestKernel, type TestKernel, type TestSession } from "@narthex/testkit";
import { hash } from "./hash.ts";

/** BLAKE3 of nothing, as its authors publish it. */
const EMPTY = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

describe("hash", () => {
  let test: TestKernel;
  let session: TestSession;
  before(async () => {
    test = await createTestKernel({ tools: [hash] });
    session = await test.open();
  });
  after(() => test.kernel.close());

  async function violations(input: JsonValue): Promise<string[]> {
    const { response } = await session.call("hash", input);
    assert.equal(response.result.case, "error", JSON.stringify(input));
    const error = response.result.case === "error" ? response.result.value : assert.fail();
    assert.equal(error.errorCode, "INVALID_INPUT");
    return error.violations.map(({ field, rule }) => `${field} ${rule}`);
  }

  it("refuses neither, both, and what belongs to the other", async () => {
    assert.deepEqual(await violations({}), ["$ min_items"]);
    assert.deepEqual(await violations({ encoding: "utf8" }), ["data required"]);
    assert.deepEqual(await violations({ data: "x", content_hash: EMPTY }), ["data not_allowed"]);
    assert.deepEqual(await violations({ data: 1 }), ["data type"]);
    assert.deepEqual(await violations({ data: "x", encoding: "latin1" }), ["encoding one_of"]);
    assert.deepEqual(await violations({ data: "x", algorithm: "md5" }), ["algorithm unknown_field"]);
    for (const content_hash of ["", "AF".repeat(32), EMPTY.slice(1), `../${EMPTY}`, `${EMPTY}\n`]) {
      assert.deepEqual(await violations({ content_hash }), ["content_hash format"], content_hash);
    }
  });

  it("refuses base64 that a decoder would guess at", async () => {
    for (const data of ["a", "YQ", "YQ=", "YQ== ", "Y Q==", "YR==", "-_-_", "YQ==YQ=="]) {
      assert.deepEqual(await violations({ data, encoding: "base64" }), ["data format"], data);
    }
  });

  it("hashes texts and bytes", async () => {
    assert.equal((await session.call("hash", { data: "" })).raw, EMPTY);
    assert.equal((await session.call("hash", { data: "ä🐲" })).raw, toHex(blake3(utf8("ä🐲"))));
    assert.equal((await session.call("hash", { data: "", encoding: "base64" })).raw, EMPTY);
    const bytes = Uint8Array.from([0, 255, 128]);
    const data = Buffer.from(bytes).toString("base64");
    assert.equal((await session.call("hash", { data, encoding: "base64" })).raw, toHex(blake3(bytes)));
  });

  it("answers the text itself, not JSON of it", async () => {
    const { normalised } = await session.call("hash", { data: "" });
    assert.equal(new TextDecoder().decode(normalised), EMPTY);
  });

  it("hashes stored content again, however large its pieces", async () => {
    const content = new Uint8Array(200_000).fill(7);
    const chunks = async function* () {
      for (let at = 0; at < content.length; at += 30_000) yield content.subarray(at, at + 30_000);
    };
    const stored = await test.kernel.putContent({ sessionId: session.id, door: "test", labels: [], chunks: chunks() });
    const result = await session.call("hash", { content_hash: toHex(stored.hash) });
    assert.equal(result.raw, toHex(blake3(content)));
  });

  it("tells a stranger nothing about content it does not hold", async () => {
    const { response } = await session.call("hash", { content_hash: EMPTY });
    assert.equal(response.result.case === "error" && response.result.value.errorCode, "CONTENT_NOT_FOUND");
  });
});
