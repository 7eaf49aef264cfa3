import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { test } from "node:test";
import { connectFramed } from "./framed/framed-client.ts";
import { serve } from "./serve.ts";
import { createTestKernel } from "./test-kernel.ts";
import { socketPath, toolCall } from "./test-socket.ts";

test("if one door cannot be opened, all are closed", async (t) => {
  const path = await socketPath(t);
  const services = [{ host: "0.0.0.0", port: 0 }];
  await assert.rejects(serve(createTestKernel(), { framed: { path }, services }), { code: "CONFIG_INVALID" });
  await assert.rejects(stat(path), { code: "ENOENT" });
});

test("opens and closes all requested doors together", async (t) => {
  const kernel = createTestKernel();
  const path = await socketPath(t);
  const services = [{ host: "127.0.0.1", port: 0 }, { path: `${path}-http` }];
  const serving = await serve(kernel, { framed: { path }, services, bytesInFlight: 1024 * 1024 });
  t.after(() => serving.close());
  assert.equal(serving.addresses.framed, path);
  const [tcp, unix] = serving.addresses.services;
  assert.ok(tcp !== undefined && "port" in tcp && tcp.port > 0);
  assert.deepEqual(unix, services[1]);

  const client = await connectFramed(path);
  assert.equal((await client.call(toolCall(kernel, "r"))).requestId, "r");
  await client.close();
  // Without an authority no token but a session's opens anything.
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer anything", "content-type": "application/json" };
    const path = "/narthex.v1.AdminService/ListSessions";
    request({ host: "127.0.0.1", port: tcp.port, method: "POST", path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end("{}");
  });
  assert.equal(status, 401);
  await serving.close({ graceMs: 100 });
  await assert.rejects(connectFramed(path), { code: "KERNEL_UNREACHABLE" });
});
