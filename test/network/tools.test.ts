import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { verifyLedger } from "@narthex/verify";
import { createNetworkKernel, type NetworkKernel, startServer, type TestServer } from "./network-kernel.ts";

const SECRET = "s3cret-of-the-forge/+";

describe("requests of tools", { timeout: 120_000 }, () => {
  let at: NetworkKernel;
  let server: TestServer;
  const used = new AsyncDisposableStack();
  before(async () => {
    server = used.use(
      await startServer((request, response) => {
        if (request.url === "/away") response.writeHead(302, { location: "http://169.254.169.254/latest" }).end();
        else if (request.url === "/echo") response.end(JSON.stringify(request.headers));
        else if (request.url === "/page") {
          response.setHeader("content-type", "text/html; charset=utf-8");
          response.end(`<html><head><title>A page</title></head><body><main><h1>Heading</h1>
          <p>Words with <a href="/other">a link</a>.</p><script>evil()</script></main></body></html>`);
        } else response.end("hello");
      }),
    );
    at = used.use(
      await createNetworkKernel({
        configuration: `
secrets: { forge_token: { env: TEST_FORGE_TOKEN } }
network: { secrets: { forge_token: ["127.0.0.1:${server.port}"] } }
`,
      }),
    );
  });
  after(() => used.disposeAsync());

  it("are denied for a session without hosts", async () => {
    const { refused } = await at.open({});
    const { code, message } = await refused("http_fetch", { url: `http://${server.place}/` });
    assert.equal(code, "CAPABILITY_MISSING", message);
  });

  it("reach a granted host, and are in the ledger with host, port, method, bytes and class", async () => {
    const session = await at.open({ reads: [server.place] });
    const answer = await session.ask("http_fetch", { url: `http://${server.place}/hello` });
    assert.deepEqual([answer["status"], answer["body"]], [200, "hello"]);
    assert.deepEqual(await session.egress(), [`GET ${server.place} loopback 200`]);
  });

  it("do not follow a redirect to a host that is not granted", async () => {
    const session = await at.open({ reads: [server.place] });
    const { code, message } = await session.refused("http_fetch", { url: `http://${server.place}/away` });
    assert.equal(code, "NETWORK_BLOCKED", message);
    assert.deepEqual(await session.egress(), [
      `GET ${server.place} loopback 302`,
      "refused GET 169.254.169.254:80 host",
    ]);
  });

  it("do not reach a loopback address through a pattern", async () => {
    const session = await at.open({ reads: ["*"] });
    const { code, message } = await session.refused("http_fetch", { url: `http://${server.place}/hello` });
    assert.deepEqual([code, /loopback/.test(message)], ["NETWORK_BLOCKED", true], message);
  });

  it("send a secret by its name without exposing its value", async () => {
    const session = await at.open({ reads: [server.place] });
    const headers = [{ name: "authorization", value: { $secret: "forge_token" }, prefix: "Bearer " }];
    const answer = await session.ask("http_fetch", { url: `http://${server.place}/echo`, headers });
    assert.equal(server.requests.at(-1)?.headers.authorization, `Bearer ${SECRET}`);
    assert.doesNotMatch(JSON.stringify(answer), /s3cret/);
    assert.match(String(answer["body"]), /\[secret forge_token\]/);
    const wrong = [{ name: "authorization", value: { $secret: "other" } }];
    const { code } = await session.refused("http_fetch", { url: `http://${server.place}/echo`, headers: wrong });
    assert.equal(code, "INVALID_INPUT");
  });

  it("return a page as untrusted Markdown", async () => {
    const session = await at.open({ reads: [server.place] });
    const answer = await session.ask("web_fetch", { url: `http://${server.place}/page` });
    assert.match(String(answer["content"]), /a link/);
    assert.match(JSON.stringify(answer), new RegExp(`http://${server.place}/other`));
    assert.doesNotMatch(String(answer["content"]), /evil/);
    const found = await at.kernel.getSession(session.session.id);
    assert.deepEqual(found?.session.labels, ["untrusted"]);
  });

  it("end at the budget of bytes", async () => {
    const session = await at.open({ reads: [server.place], more: { budgets: { network_bytes: 300 } } });
    await session.ask("http_fetch", { url: `http://${server.place}/hello` });
    const { code, message } = await session.refused("http_fetch", { url: `http://${server.place}/hello` });
    assert.equal(code, "RESOURCE_EXCEEDED", message);
  });

  it("leave a ledger that verifies", async () => {
    const report = await verifyLedger(at.kernel.ledgerSource());
    assert.deepEqual(report.problems, []);
    assert.ok(report.records > 10);
  });
});

process.env["TEST_FORGE_TOKEN"] = SECRET;
