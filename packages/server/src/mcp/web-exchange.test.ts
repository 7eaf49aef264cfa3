import assert from "node:assert/strict";
import { createServer, get, type IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import { text } from "node:stream/consumers";
import { sendWebResponse } from "./web-exchange.ts";

/** What a client of this server is answered, once its head has come. */
async function request(context: TestContext, answer: () => Response): Promise<IncomingMessage> {
  const server = createServer((_, response) => void sendWebResponse(answer(), response));
  context.after(() => server.close());
  context.after(() => server.closeAllConnections());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return await new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port: address.port }, resolve).on("error", reject);
  });
}

const EVENTS = { headers: { "content-type": "text/event-stream" } };

test("sends the head of a stream before its first event", { timeout: 10_000 }, async (context) => {
  const events = new TransformStream<Uint8Array, Uint8Array>();
  const response = await request(context, () => new Response(events.readable, EVENTS));
  assert.equal(response.headers["content-type"], "text/event-stream");
  const writer = events.writable.getWriter();
  void writer.write(Buffer.from("data: 1\n\n"));
  void writer.close();
  assert.equal(await text(response), "data: 1\n\n");
});

test("sends an immediate event with its stream's head, and later ones after it", async (context) => {
  const response = await request(context, () => {
    const chunks = ["data: 1\n\n", "data: 2\n\n"].map((event) => Buffer.from(event));
    return new Response(ReadableStream.from(chunks), EVENTS);
  });
  assert.equal(await text(response), "data: 1\n\ndata: 2\n\n");
});

test("sends a JSON response whole, with its length", async (context) => {
  const response = await request(context, () => Response.json({ text: "ä" }, { status: 400 }));
  assert.equal(response.statusCode, 400);
  assert.equal(response.headers["content-length"], "13");
  assert.equal(await text(response), '{"text":"ä"}');
});
