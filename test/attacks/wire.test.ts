import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { create, encode, ToolRequestSchema, toHex } from "@narthex/contracts";
import { codeOf, serveKernel } from "./served-kernel.ts";

const kernel = await serveKernel();
const slowClients = startSlowClients();
after(async () => {
  for (const { socket } of slowClients) socket.destroy();
  await kernel.stop();
});

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

/** A request for one of the typed messages, by its number and its fields. */
const typed = (number: number, ...fields: readonly Uint8Array[]): Buffer =>
  Buffer.concat([
    field(1, Buffer.from("typed")),
    field(2, Buffer.from(kernel.session.token)),
    field(number, Buffer.concat(fields)),
  ]);
const [FILE_READ, SHELL_EXEC, GIT] = [10, 13, 14];
const TRUE = field(1, Buffer.from("true"));
const LOG = field(1, Buffer.from("LOG"));
const NOT_UTF8 = Buffer.from([0x61, 0xc3, 0x28]);

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
  "a NUL in a command": () => typed(SHELL_EXEC, field(1, Buffer.from("echo a\0b"))),
  "a NUL in a variable": () => typed(SHELL_EXEC, TRUE, field(5, Buffer.from("A=b\0c"))),
  "a NUL in a directory": () => typed(SHELL_EXEC, TRUE, field(2, Buffer.from("a\0"))),
  "a NUL in an argument of git": () => typed(GIT, LOG, field(2, Buffer.from("a\0b"))),
  "a command that is not UTF-8": () => typed(SHELL_EXEC, field(1, NOT_UTF8)),
  "a variable that is not UTF-8": () => typed(SHELL_EXEC, TRUE, field(5, NOT_UTF8)),
  "an argument of git that is not UTF-8": () => typed(GIT, LOG, field(2, NOT_UTF8)),
  "half a surrogate pair in an argument of git": () => typed(GIT, LOG, field(2, Buffer.from([0xed, 0xa0, 0x80]))),
  "a negative limit": () =>
    typed(FILE_READ, field(1, Buffer.from("a")), Buffer.from([(3 << 3) | 0, ...Array(9).fill(0xff), 1])),
};

for (const [name, bytes] of Object.entries(BROKEN)) {
  test(`${name} is INVALID_REQUEST with the reason`, async () => {
    const response = await kernel.send(bytes());
    assert.equal(codeOf(response), "INVALID_REQUEST");
    assert.ok(response.result.case === "error" && response.result.value.violations.length > 0);
  });
}

test("half a surrogate pair is INVALID_REQUEST in JSON too, in every text", async () => {
  const head = `"requestId":"half","sessionToken":${JSON.stringify(kernel.session.token)}`;
  for (const tool of [
    String.raw`"shellExec":{"command":"echo \ud800"}`,
    String.raw`"shellExec":{"command":"true","env":["A=\udc00"]}`,
    String.raw`"gitOp":{"operation":"LOG","args":["\ud800a"]}`,
    String.raw`"fileRead":{"path":"\udfff"}`,
  ]) {
    const answer = await post(`{${head},${tool}}`, "application/json");
    assert.match(await answer.text(), /"errorCode":"INVALID_REQUEST".*half a surrogate pair/, tool);
  }
});

test("a NUL in a JSON argument is INVALID_INPUT, before a person would be asked about it", async () => {
  for (const [tool, input] of [
    ["shell_exec", { command: "rm a\0b" }],
    ["shell_exec", { command: "rm a", env: { A: "b\0c" } }],
    ["shell_spawn", { command: "rm a\0b" }],
    ["git", { operation: "LOG", args: ["a\0b"] }],
    ["file_write", { path: "a\0b", content: "" }],
  ] as const) {
    assert.equal(codeOf(await kernel.call(tool, JSON.stringify(input))), "INVALID_INPUT", tool);
  }
});

test("a content type that the services do not support is rejected", async () => {
  for (const type of ["text/plain", "text/html", "application/xml", "application/x-www-form-urlencoded", "application"])
    assert.equal((await post("{}", type)).status, 415, type);
});

test("fields in any order make the same request", async () => {
  const token = field(2, Buffer.from(kernel.session.token));
  const call = field(17, Buffer.concat([field(3, Buffer.from("1")), field(1, Buffer.from("echo"))]));
  const response = await kernel.send(Buffer.concat([call, token, field(1, Buffer.from("reordered"))]));
  assert.deepEqual([response.requestId, codeOf(response)], ["reordered", "success"]);
});

test("an unknown, an invalid and another session's token are SESSION_UNKNOWN alike", async () => {
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

test("content requests with a wrong hash, a path as hash or another session's hash return nothing", async () => {
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

test("empty content, and equal content put twice at once, is stored once", async () => {
  const put = (stdin: string) => kernel.home.ask(["cas", "put", "-", "--session", kernel.session.id], 0, { stdin });
  assert.equal((await put(""))["size"], 0);
  const [one, two] = await Promise.all([put("x".repeat(200_000)), put("x".repeat(200_000))]);
  assert.equal(one["hash"], two["hash"]);
});

test("dedupe keys: another request under the key, an equal one twice at once, and the same key elsewhere", async () => {
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

test("a dedupe key has no meaning in another session, nor after its own has ended", async () => {
  const write = (token: string, requestId: string, content: string) => {
    const value = { path: "keyed", content: Buffer.from(content), append: true };
    const tool = { case: "fileWrite" as const, value };
    return kernel.request({ requestId, dedupeKey: "shared", sessionToken: token, tool });
  };
  const [first, second] = [await kernel.home.openSession(), await kernel.home.openSession()];
  for (const { token } of [first, second, first]) assert.equal(codeOf(await write(token, "w", "a")), "success");
  assert.equal(await readFile(join(kernel.home.workspace, "keyed"), "utf8"), "aa");
  await kernel.home.ask(["session", "close", first.id]);
  assert.equal(codeOf(await write(first.token, "w", "a")), "SESSION_CLOSED");
  const third = await kernel.home.openSession();
  assert.equal(codeOf(await write(third.token, "w", "b")), "success");
  assert.equal(await readFile(join(kernel.home.workspace, "keyed"), "utf8"), "aab");
});

test("a browser's page gets no access: foreign Origin, foreign Host, GET and preflight are rejected", async () => {
  const url = callUrl();
  const body = "{}";
  const type = { "content-type": "application/json" };
  const foreign = await fetch(url, { method: "POST", headers: { ...type, origin: "https://evil.example" }, body });
  assert.equal(foreign.status, 403);
  assert.equal(foreign.headers.get("access-control-allow-origin"), null);
  assert.ok([404, 405].includes((await fetch(url)).status));
  assert.ok((await fetch(url, { method: "OPTIONS" })).status >= 400);
});

test("clients that send slowly or not at all are disconnected", async () => {
  await Promise.all(slowClients.map(({ closed }) => closed));
  assert.equal(codeOf(await kernel.call("echo", "1")), "success");
});

test("all calls are in the ledger afterwards, and it is sound", () => kernel.assertSound());

function callUrl(): string {
  return `${kernel.listen}/narthex.v1.KernelService/Call`;
}

function post(body: string, type: string): Promise<Response> {
  return fetch(callUrl(), { method: "POST", headers: { "content-type": type }, body });
}

interface SlowClient {
  readonly socket: Socket;
  readonly closed: Promise<void>;
}

/** Some say nothing, some a byte each second and never a whole request: while other tests run, their time is used up. */
function startSlowClients(): SlowClient[] {
  const { hostname: host, port } = new URL(kernel.listen);
  const http = { host, port: Number(port) };
  const framed = { path: kernel.framedSocket };
  const head = `POST /narthex.v1.KernelService/Call HTTP/1.1\r\nhost: ${host}:${port}\r\nx-slow: `;
  return [slowClient(http, ""), slowClient(http, head), slowClient(framed, ""), slowClient(framed, "NT")];
}

function slowClient(to: NetConnectOpts, start: string): SlowClient {
  const socket = connect(to, () => void socket.write(start));
  const drip = setInterval(() => start.startsWith("POST") && socket.write("x"), 1000);
  // A connection that is reset is cut off, too.
  socket.on("error", () => undefined);
  socket.resume();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void closed.then(() => clearInterval(drip));
  return { socket, closed };
}
