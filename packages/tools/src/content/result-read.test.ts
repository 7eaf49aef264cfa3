import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type JsonValue, toHex } from "@narthex/contracts";
import { createTestKernel, type TestKernel, type TestSession } from "@narthex/testkit";
import { resultRead } from "./result-read.ts";

const CONTENT = Uint8Array.from({ length: 40_000 }, (_, index) => index % 251);

describe("result_read", () => {
  let test: TestKernel;
  let session: TestSession;
  let hash: string;
  before(async () => {
    test = await createTestKernel({ tools: [resultRead] });
    session = await test.open();
    const chunks = async function* () {
      yield CONTENT;
    };
    hash = toHex(
      (await test.kernel.putContent({ sessionId: session.id, door: "test", labels: ["untrusted"], chunks: chunks() }))
        .hash,
    );
  });
  after(() => test.kernel.close());

  async function code(input: JsonValue, from: TestSession = session): Promise<string | undefined> {
    const { response } = await from.call("result_read", input);
    return response.result.case === "error" ? response.result.value.errorCode : response.result.case;
  }

  it("rejects invalid hashes, offsets and limits", async () => {
    const wrong: JsonValue[] = [{}, { hash: "x" }, { hash, offset: -1 }, { hash, offset: 1.5 }, { hash, limit: 0 }];
    wrong.push({ hash, limit: 1_048_577 }, { hash, offset: Number.MAX_SAFE_INTEGER }, { hash, page: 1 }, hash);
    for (const input of wrong) assert.equal(await code(input), "INVALID_INPUT", JSON.stringify(input));
  });

  it("knows nothing of content that another session holds", async () => {
    assert.equal(await code({ hash }, await test.open()), "CONTENT_NOT_FOUND");
  });

  it("reads as much as a view shows unless told otherwise", async () => {
    assert.deepEqual((await session.call("result_read", { hash })).raw, CONTENT.subarray(0, 16_384));
    assert.deepEqual((await session.call("result_read", { hash, offset: 39_990 })).raw, CONTENT.subarray(39_990));
    assert.deepEqual((await session.call("result_read", { hash, offset: 3, limit: 2 })).raw, Uint8Array.from([3, 4]));
  });

  it("answers nothing past the end", async () => {
    for (const offset of [40_000, 1e12]) {
      const { status, normalised } = await session.call("result_read", { hash, offset });
      assert.deepEqual([status, normalised?.length], ["success", 0]);
    }
  });

  it("hands the content's labels on", async () => {
    assert.deepEqual((await session.call("result_read", { hash })).metadata.labels, ["untrusted"]);
  });
});
