import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from "node:http2";
import { test } from "node:test";
import { CALL, jsonCall, openDoor, post } from "./test-door.ts";

for (const [name, headers, status] of [
  ["another Host", { host: "evil.example" }, 403],
  ["a Host without the port", { host: "127.0.0.1" }, 403],
  ["a Host with another port", { host: "127.0.0.1:1" }, 403],
  ["an Origin of another site", { origin: "https://evil.example" }, 403],
  ["an Origin of another port", { origin: "http://127.0.0.1:1" }, 403],
  ["the Origin null", { origin: "null" }, 403],
] as const) {
  test(`rejects a request with ${name}`, async (t) => {
    const { kernel, port } = await openDoor(t);
    const answer = await post({ port }, { headers, body: jsonCall(kernel) });
    assert.equal(answer.status, status);
    assert.equal(kernel.calls.length, 0);
    assert.deepEqual(
      Object.keys(answer.headers).filter((header) => header.startsWith("access-control")),
      [],
    );
    assert.equal(kernel.refusals[0]?.door, "http");
  });
}

for (const method of ["GET", "HEAD", "PUT", "OPTIONS"]) {
  test(`rejects ${method}`, async (t) => {
    const { port } = await openDoor(t);
    const answer = await post({ port }, { method });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers["allow"], "POST");
  });
}

test("accepts the door's own names and Origin, over HTTP/1.1 and HTTP/2", async (t) => {
  const { kernel, port } = await openDoor(t);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
    const answer = await post({ port }, { headers: { host, origin: `http://${host}` }, body: jsonCall(kernel) });
    assert.equal(answer.status, 200, host);
  }
});

test("rejects an HTTP/2 request for another authority", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const session = connectHttp2(baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": CALL,
    ":authority": "evil.example",
    "content-type": "application/json",
  });
  stream.end(jsonCall(kernel));
  const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders & IncomingHttpStatusHeader];
  assert.equal(headers[":status"], 403);
});

test("rejects an unknown path as not found and an unknown content type as not supported", async (t) => {
  const { port } = await openDoor(t);
  assert.equal((await post({ port }, { path: "/nowhere" })).status, 404);
  assert.equal((await post({ port }, { headers: { "content-type": "text/plain" } })).status, 415);
});
