import assert from "node:assert/strict";
import { after, test } from "node:test";
import { create, encode, ToolRequestSchema, toHex } from "@narthex/contracts";
import { codeOf, serveKernel } from "./served-kernel.ts";

const kernel = await serveKernel();
after(() => kernel.stop());

const valid = (requestId: string) =>
  encode(
    create(ToolRequestSchema, {
      requestId,
      sessionToken: kernel.session.token,
      tool: { case: "call", value: { name: "echo", input: Buffer.from("1") } },
    }),
  );

const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}

const BROKEN: Record<string, () => Buffer> = {
  "an unknown field": () => Buffer.concat([valid("a"), field(99, Buffer.from("x"))]),
  "a field given twice": () => Buffer.concat([valid("b"), field(1, Buffer.from("other"))]),
  "two variants at once": () => Buffer.concat([valid("c"), field(10, field(1, Buffer.from("/etc/passwd")))]),
  "the same variant twice": () => Buffer.concat([valid("d"), field(17, field(1, Buffer.from("hash")))]),
  "an unknown field inside": () =>
    Buffer.concat([
      valid("e").subarray(0, 0),
      field(1, Buffer.from("e")),
      field(2, Buffer.from(kernel.session.token)),
      field(17, Buffer.concat([field(1, Buffer.from("echo")), field(3, Buffer.from("1")), field(9, Buffer.from("x"))])),
    ]),
  "a string that is not UTF-8": () => Buffer.concat([valid("f"), field(3, Buffer.from([0xff]))]),
  "a length of 2 GB": () => Buffer.concat([valid("g"), varint((3 << 3) | 2), varint(2_147_483_647)]),
  "a varint that never ends": () => Buffer.concat([valid("h"), Buffer.alloc(11, 0xff)]),
  "ten thousand groups": () => Buffer.concat([valid("i"), Buffer.alloc(10_000, (20 << 3) | 3)]),
  "a truncated message": () => Buffer.from(valid("j")).subarray(0, -1),
  "field number 0": () => Buffer.concat([valid("k"), Buffer.from([0x02, 0x00])]),
  "a wrong wire type": () => Buffer.concat([valid("l"), Buffer.from([(3 << 3) | 0, 1])]),
  "no tool": () => Buffer.concat([field(1, Buffer.from("m")), field(2, Buffer.from(kernel.session.token))]),
  "an id of 257 characters": () => Buffer.from(valid("n".repeat(257))),
  "no id": () => Buffer.from(valid("")),
};

for (const [name, bytes] of Object.entries(BROKEN)) {
  test(`${name} is INVALID_REQUEST, with what is wrong`, async () => {
    const response = await kernel.send(bytes());
    assert.equal(codeOf(response), "INVALID_REQUEST");
    assert.ok(response.result.case === "error" && response.result.value.violations.length > 0);
  });
}

test("fields in any order are one request", async () => {
  const token = field(2, Buffer.from(kernel.session.token));
  const call = field(17, Buffer.concat([field(3, Buffer.from("1")), field(1, Buffer.from("echo"))]));
  const response = await kernel.send(Buffer.concat([call, token, field(1, Buffer.from("reordered"))]));
  assert.deepEqual([response.requestId, codeOf(response)], ["reordered", "success"]);
});

test("an unknown, a wrong and another session's token are SESSION_UNKNOWN alike", async () => {
  const tokens = ["x", `ntx_${kernel.session.id}_${"A".repeat(43)}`, `ntx_ses_${"a".repeat(20)}_${"A".repeat(43)}`];
  const messages = new Set<string>();
  for (const sessionToken of tokens) {
    const tool = { case: "call" as const, value: { name: "echo", input: Buffer.from("1") } };
    const { result } = await kernel.send(encode(create(ToolRequestSchema, { requestId: "r", sessionToken, tool })));
    assert.ok(result.case === "denied" && result.value.rationaleCode === "SESSION_UNKNOWN");
    messages.add(result.value.message);
  }
  assert.equal(messages.size, 1);
});

test("content: a wrong hash, a path as hash and someone else's hash give nothing", async () => {
  const put = await kernel.home.ask(["cas", "put", "-", "--session", kernel.session.id], 0, { stdin: "mine" });
  const hash = String(put["hash"]);
  const other = await kernel.home.openSession();
  for (const [session, wanted, code] of [
    [kernel.session.id, hash, 0],
    [other.id, hash, 1],
    [kernel.session.id, "00".repeat(32), 1],
  ] as const) {
    const input = JSON.stringify({ hash: wanted });
    const answer = await kernel.home.ask(["call", "result_read", input, "--session", session], code);
    if (code === 1) assert.equal(answer["error_code"], "CONTENT_NOT_FOUND");
  }
  for (const path of ["../../etc/passwd", "/etc/passwd", "..%2f", `${hash}/..`]) {
    const answer = await kernel.home.ask(
      ["call", "result_read", JSON.stringify({ hash: path }), "--session", kernel.session.id],
      4,
    );
    assert.equal(answer["error_code"], "INVALID_INPUT");
  }
});

test("an empty content and equal content put twice at once are one and the same", async () => {
  const put = (stdin: string) => kernel.home.ask(["cas", "put", "-", "--session", kernel.session.id], 0, { stdin });
  assert.equal((await put(""))["size"], 0);
  const [one, two] = await Promise.all([put("x".repeat(200_000)), put("x".repeat(200_000))]);
  assert.equal(one["hash"], two["hash"]);
});

test("dedupe: another request under the key, an equal one twice at once, and the same key elsewhere", async () => {
  const content = await kernel.home.ask(["cas", "put", "-", "--session", kernel.session.id], 0, { stdin: "artifact" });
  const publish = (id: string) => JSON.stringify({ artifact_id: id, content_hash: content["hash"], category: "test" });
  const [first, joined] = await Promise.all([
    kernel.call("artifact_publish", publish("one"), "d1", "key"),
    kernel.call("artifact_publish", publish("one"), "d2", "key"),
  ]);
  assert.deepEqual([codeOf(first), codeOf(joined)], ["success", "success"]);
  assert.ok(first.result.case === "success" && joined.result.case === "success");
  assert.equal(toHex(first.result.value.resultHash), toHex(joined.result.value.resultHash));
  assert.equal(codeOf(await kernel.call("artifact_publish", publish("two"), "d3", "key")), "DEDUPE_CONFLICT");
  assert.equal(codeOf(await kernel.call("artifact_publish", publish("two"), "d1")), "DUPLICATE_REQUEST_ID");
  assert.equal(codeOf(await kernel.call("artifact_publish", publish("one"), "d4")), "success");
  const other = JSON.stringify({ artifact_id: "one", content_hash: content["hash"], category: "else" });
  assert.equal(codeOf(await kernel.call("artifact_publish", other, "d5")), "ARTIFACT_EXISTS");
});

test("a browser's page reaches nothing: foreign Origin, foreign Host, GET and preflight are refused", async () => {
  const url = `${kernel.listen}/narthex.v1.KernelService/Call`;
  const body = "{}";
  const type = { "content-type": "application/json" };
  const foreign = await fetch(url, { method: "POST", headers: { ...type, origin: "https://evil.example" }, body });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.headers.get("access-control-allow-origin"), null);
  assert.ok([404, 405].includes((await fetch(url)).status));
  assert.ok((await fetch(url, { method: "OPTIONS" })).status >= 400);
});

test("afterwards everything is in the ledger, and it is sound", () => kernel.assertSound());
