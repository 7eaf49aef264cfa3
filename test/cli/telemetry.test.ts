import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createTestHome, ended, objectsOf, parseObject, readLines, type TestHome, textOf } from "./home.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("tracing", { timeout: 120_000 }, () => {
  let at: TestHome;
  let collector: Server;
  let env: NodeJS.ProcessEnv;
  const received: JsonObject[] = [];
  before(async () => {
    at = await createTestHome();
    collector = createServer((request, response) => {
      void text(request).then((body) => {
        received.push({ url: request.url ?? "", ...parseObject(body) });
        response.setHeader("content-type", "application/json").end("{}");
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    const { port } = collector.address() as AddressInfo;
    env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_SERVICE_NAME: "my-agent" };
  });
  after(async () => {
    collector.close();
    await at.remove();
  });

  function spans(): JsonObject[] {
    return received
      .flatMap((message) => objectsOf(message["resourceSpans"]))
      .flatMap((resource) => objectsOf(resource["scopeSpans"]))
      .flatMap((scope) => objectsOf(scope["spans"]));
  }

  it("is off unless the environment asks for it", async () => {
    const { id } = await at.openSession();
    assert.equal((await at.run(["call", "echo", "1", "--session", id])).code, 0);
    const disabled = { ...env, OTEL_SDK_DISABLED: "true" };
    assert.equal((await at.run(["call", "echo", "1", "--session", id], { env: disabled })).code, 0);
    assert.deepEqual(received, []);
  });

  it("sends a span for each call, as a child of the wire client's span", async () => {
    const { token } = await at.openSession();
    const child = at.start(["serve", "--listen", "127.0.0.1:0", "--json"], { env });
    const ready = parseObject(await readLines(child)());
    const answer = await fetch(`${textOf(ready["listen"])}/narthex.v1.KernelService/Call`, {
      method: "POST",
      headers: { "content-type": "application/json", traceparent: `00-${TRACE}-${SPAN}-01` },
      body: JSON.stringify({ requestId: "r1", sessionToken: token, call: { name: "echo", input: btoa("1") } }),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    child.kill("SIGTERM");
    assert.equal(await ended(child), 0);
    const call = spans().find(({ name }) => name === "execute_tool echo") ?? assert.fail(JSON.stringify(received));
    assert.deepEqual([call["traceId"], call["parentSpanId"]], [TRACE, SPAN]);
    assert.equal(spans().filter(({ parentSpanId }) => parentSpanId === call["spanId"]).length, 11);
    assert.match(JSON.stringify(received), /"service.name","value":\{"stringValue":"my-agent"\}/);
    assert.equal(received[0]?.["url"], "/v1/traces");
    assert.ok(!JSON.stringify(received).includes(token));
  });

  it("works when no collector listens", async () => {
    const { id } = await at.openSession();
    const nobody = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    assert.equal((await at.run(["call", "echo", "1", "--session", id], { env: nobody })).code, 0);
  });
});
