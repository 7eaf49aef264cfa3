import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { request } from "node:http";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { freeBuffer } from "./free-buffer.ts";
import { serveHttp } from "./testing/loopback-servers.ts";
import { openTestProxy } from "./testing/proxy-client.ts";

describe("the memory of a piece", { timeout: 60_000 }, () => {
  it("is not given back where others may have a part of it", () => {
    const whole = Buffer.alloc(100, 1);
    const part = whole.subarray(0, 50);
    freeBuffer(part);
    assert.deepEqual([whole.length, part[0]], [100, 1]);
    const none = Buffer.alloc(0);
    freeBuffer(none);
    new Uint8Array(4).set(none);
    const own = new Uint8Array(100);
    freeBuffer(own);
    assert.equal(own.length, 0);
  });

  it("is given back behind a body that passes, which arrives whole to one who reads slowly and often stops", async (t) => {
    const body = randomBytes(12 * 1024 * 1024);
    const server = await serveHttp(t, (_, response) => response.end(body));
    const proxy = await openTestProxy(t);
    const auth = `Basic ${Buffer.from(proxy.credential).toString("base64")}`;
    for (const isSlow of [true, false]) {
      const hash = createHash("sha256");
      const response = await new Promise<AsyncIterable<Buffer>>((resolve, reject) => {
        const asking = request({
          socketPath: proxy.socketPath,
          path: `${server.url}/`,
          headers: { "proxy-authorization": auth },
        });
        asking.once("response", resolve).once("error", reject).end();
      });
      for await (const piece of response) {
        hash.update(piece);
        if (isSlow) await turn();
      }
      assert.equal(hash.digest("hex"), createHash("sha256").update(body).digest("hex"));
    }
  });
});
