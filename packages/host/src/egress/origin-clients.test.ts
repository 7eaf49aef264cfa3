import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serveHttp } from "./testing/loopback-servers.ts";
import { openTestExit, textOf } from "./testing/test-pass.ts";

const KEPT_ORIGINS = 64;
const CONNECTIONS = 16;

describe("the connections of a pass", { timeout: 60_000 }, () => {
  it("are sixteen to an origin at most, however many requests there are at once", async (t) => {
    const { promise: all, resolve: answerAll } = Promise.withResolvers<void>();
    let asked = 0;
    const server = await serveHttp(t, (_, response) => {
      asked += 1;
      if (asked === CONNECTIONS) setImmediate(answerAll);
      void all.then(() => response.end("ok"));
    });
    const exit = openTestExit(t);
    const texts = await Promise.all(
      Array.from({ length: 40 }, async (_, n) => textOf((await exit.ask(`${server.url}/${n}`)).body)),
    );
    assert.deepEqual(new Set(texts), new Set(["ok"]));
    assert.equal(server.connections(), CONNECTIONS);
    assert.equal(exit.pass.events.length, 40);
  });

  it("are kept from one request to the next", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"));
    const exit = openTestExit(t);
    for (let n = 0; n < 5; n++) await textOf((await exit.ask(server.url)).body);
    assert.equal(server.connections(), 1);
  });

  it("do not heap up with the number of hosts: those with nothing to do are ended", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("ok"), "0.0.0.0");
    const hosts = Array.from({ length: KEPT_ORIGINS + 6 }, (_, n) => `127.0.0.${n + 1}`);
    const exit = openTestExit(t, { granted: hosts });
    for (const host of hosts) assert.equal(await textOf((await exit.ask(`http://${host}:${server.port}/`)).body), "ok");
    assert.equal(server.connections(), hosts.length);
    while (server.open() > KEPT_ORIGINS) await new Promise(setImmediate);
    assert.equal(await textOf((await exit.ask(`http://127.0.0.1:${server.port}/`)).body), "ok");
  });

  it("that a request still waits for are not dialled for one that was given up", async (t) => {
    const { promise: answering, resolve: answer } = Promise.withResolvers<void>();
    const paths: (string | undefined)[] = [];
    const server = await serveHttp(t, ({ url }, response) => {
      paths.push(url);
      void answering.then(() => response.end("ok"));
    });
    const exit = openTestExit(t);
    const running = Array.from({ length: CONNECTIONS }, async (_, n) =>
      textOf((await exit.ask(`${server.url}/${n}`)).body),
    );
    while (paths.length < CONNECTIONS) await new Promise(setImmediate);
    const given = new AbortController();
    const waiting = exit.request({ method: "GET", url: `${server.url}/late` }, given.signal);
    given.abort(new Error("never mind"));
    await assert.rejects(waiting);
    assert.equal(exit.pass.events.length, 1, "it is told of at once");
    answer();
    await Promise.all(running);
    assert.equal(await textOf((await exit.ask(`${server.url}/after`)).body), "ok");
    assert.ok(!paths.includes("/late"));
  });
});
