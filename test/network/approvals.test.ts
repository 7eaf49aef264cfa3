import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { verifyLedger } from "@narthex/verify";
import { createNetworkKernel, type NetworkKernel, startServer, type TestServer } from "./network-kernel.ts";

describe("hosts under the default rules", { timeout: 120_000 }, () => {
  let at: NetworkKernel;
  let first: TestServer;
  let second: TestServer;
  const asked: string[] = [];
  let term: "session" | "rule" = "session";
  const used = new AsyncDisposableStack();
  before(async () => {
    second = used.use(await startServer((_, response) => void response.end("second")));
    first = used.use(
      await startServer((request, response) => {
        if (request.url === "/away") response.writeHead(302, { location: `http://${second.place}/` }).end();
        else response.end("first");
      }),
    );
    at = used.use(
      await createNetworkKernel({
        rules: "",
        approver: {
          door: "callback",
          ask({ tool }) {
            asked.push(tool.replace(/@.*/, ""));
            return Promise.resolve({ approved: true, approver: "ann", term });
          },
        },
      }),
    );
  });
  after(() => used.disposeAsync());

  it("need one approval, remembered for the session", async () => {
    const places = [first.place, second.place];
    const session = await at.open({ reads: places, sends: places });
    for (const path of ["/a", "/b"]) await session.ask("http_fetch", { url: `http://${first.place}${path}` });
    assert.deepEqual(asked.splice(0), ["http_fetch"]);
    await session.ask("http_fetch", { url: `http://${second.place}/` });
    await session.ask("http_fetch", { url: `http://${first.place}/`, method: "POST", body: "x" });
    assert.deepEqual(asked.splice(0), ["http_fetch", "http_fetch"], "another host, and to send");
  });

  it("need one approval for later sessions too if it is given as a rule", async () => {
    term = "rule";
    for (let round = 0; round < 2; round++) {
      const session = await at.open({ reads: [first.place, second.place] });
      for (const path of ["/a", "/b"]) await session.ask("http_fetch", { url: `http://${first.place}${path}` });
      assert.deepEqual(asked.splice(0), round === 0 ? ["http_fetch"] : []);
    }
    term = "session";
    const session = await at.open({ reads: [first.place, second.place] });
    await session.ask("http_fetch", { url: `http://${second.place}/` });
    assert.deepEqual(asked.splice(0), ["http_fetch"], "another host");
  });

  it("reached by a redirect are not covered by an approval for another host", async () => {
    const places = [first.place, second.place];
    const session = await at.open({ reads: places });
    const before = second.requests.length;
    const { code, message } = await session.refused("http_fetch", { url: `http://${first.place}/away` });
    assert.deepEqual([code, /APPROVAL_UNAVAILABLE/.test(message)], ["NETWORK_BLOCKED", true], message);
    assert.equal(second.requests.length, before);
    asked.length = 0;
  });

  it("named by a command are approved with it; others that it requests are denied", async () => {
    const places = [first.place, second.place];
    const session = await at.open({ reads: places, sends: places });
    const curl = (place: string): string => `curl -sS -m 20 --noproxy "" http://${place}/`;
    const answer = await session.ask("shell_exec", {
      command: `${curl(first.place)}; ${curl(second.place)}`,
      network_access: true,
      hosts: [first.place],
    });
    assert.match(JSON.stringify(answer), /first[^]*NETWORK_BLOCKED/);
    assert.deepEqual(asked.splice(0), ["shell_exec"]);
  });

  it("leave a ledger that verifies", async () => {
    const report = await verifyLedger(at.kernel.ledgerSource());
    assert.deepEqual(report.problems, []);
    assert.ok(report.records > 10);
  });
});
