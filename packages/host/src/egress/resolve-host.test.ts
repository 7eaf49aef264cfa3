import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createHostResolver, createServerLookUp } from "./resolve-host.ts";
import { type DnsAnswer, type DnsQuery, type DnsServer, serveDns } from "./testing/dns-server.ts";
import { serveHttp } from "./testing/loopback-servers.ts";
import { openTestExit, type OpenedExit, type TestPassOptions, textOf } from "./testing/test-pass.ts";

/** An exit whose names are answered by a server of its own. */
async function open(
  t: TestContext,
  answer: (query: DnsQuery) => DnsAnswer,
  options: TestPassOptions = {},
): Promise<{ readonly exit: OpenedExit; readonly dns: DnsServer }> {
  const dns = await serveDns(t, answer);
  const times = { resolveMs: 1500, connectMs: 1500 };
  return { dns, exit: openTestExit(t, options, { lookUp: createServerLookUp([dns.address]), times }) };
}

const onlyA =
  (...addresses: readonly string[]) =>
  ({ type }: DnsQuery): DnsAnswer =>
    type === "A" ? addresses.map((address) => ({ address })) : [];

describe("a name", () => {
  it("that changes its mind is dialled where it was judged, and refused when it is judged again", async (t) => {
    const judged = await serveHttp(t, (_, response) => response.end("judged"));
    const other = await serveHttp(t, (_, response) => response.end("other"), "127.0.0.2");
    const rebinding = ({ type, turn }: DnsQuery): DnsAnswer =>
      type === "A" ? [{ address: turn === 1 ? "127.0.0.1" : "127.0.0.2" }] : [];
    const { exit, dns } = await open(t, rebinding, { granted: ["127.0.0.1"] });
    const url = `http://rebind.test:${judged.port}/`;
    assert.equal(await textOf((await exit.ask(url)).body), "judged");
    assert.deepEqual(dns.queries.map(({ type }) => type).toSorted(), ["A", "AAAA"], "one connection, one look-up");
    await assert.rejects(exit.ask(`http://rebind.test:${other.port}/`), {
      message: "loopback: `rebind.test` leads to a loopback address",
    });
    assert.deepEqual([judged.connections(), other.connections(), dns.queries.length], [1, 0, 4]);
  });

  it("that leads to an address one may only read from is not sent to, by no connection that was made to read", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const granted = (_: string, sends: boolean): boolean => !sends;
    const { exit } = await open(t, onlyA("127.0.0.1"), { isGranted: granted });
    const url = `http://inside.test:${server.port}/`;
    assert.equal(await textOf((await exit.ask(url)).body), "reached");
    await assert.rejects(exit.ask(url, { method: "POST", body: Buffer.from("x") }), { code: "NETWORK_BLOCKED" });
    assert.equal(await textOf((await exit.ask(url)).body), "reached");
    assert.deepEqual(
      [server.connections(), exit.pass.events.map(({ refused }) => refused)],
      [1, [undefined, "loopback", undefined]],
    );
  });

  it("that leads to this machine's own address inside another is refused", async () => {
    const isOwn = (bytes: Uint8Array): boolean => Buffer.from(bytes).toString("hex").endsWith("ffff08080808");
    for (const address of ["8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8"]) {
      const resolver = createHostResolver(() => Promise.resolve([address]), 1000, isOwn);
      const target = { host: "own.test", port: 80, sends: false };
      await assert.rejects(resolver.resolve(target, { isGranted: () => false }), /^EgressBlocked|own: /, address);
    }
  });

  it("is resolved again for every exit and never cached", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const { exit, dns } = await open(t, onlyA("127.0.0.1"));
    const lookUp = createServerLookUp([dns.address]);
    const url = `http://ttl.test:${server.port}/`;
    await textOf((await exit.ask(url)).body);
    await textOf((await openTestExit(t, {}, { lookUp }).ask(url)).body);
    assert.deepEqual([dns.queries.length, server.connections()], [4, 2]);
  });

  it("with one private address among several is refused, whichever comes first", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    for (const addresses of [
      ["127.0.0.1", "10.0.0.1"],
      ["10.0.0.1", "127.0.0.1"],
      ["93.184.215.14", "10.0.0.1"],
      ["127.0.0.1", "127.0.0.2"],
    ]) {
      const { exit } = await open(t, onlyA(...addresses));
      await assert.rejects(exit.ask(`http://several.test:${server.port}/`), { code: "NETWORK_BLOCKED" });
      assert.equal(exit.pass.events.length, 1);
    }
    assert.equal(server.connections(), 0);
  });

  it("with a public IPv4 and a private IPv6 address is refused, and the other way about", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const both =
      (v4: string, v6: string) =>
      ({ type }: DnsQuery): DnsAnswer => [{ address: type === "A" ? v4 : v6 }];
    for (const [v4, v6, kind] of [
      ["93.184.215.14", "::1", "loopback"],
      ["93.184.215.14", "::ffff:10.0.0.1", "private"],
      ["169.254.169.254", "2606:4700::1111", "metadata"],
    ] as const) {
      const { exit } = await open(t, both(v4, v6));
      await assert.rejects(exit.ask(`http://both.test:${server.port}/`), { code: "NETWORK_BLOCKED" });
      assert.deepEqual([exit.pass.events[0]?.refused, exit.pass.events[0]?.addressClass], [kind, kind]);
    }
    assert.equal(server.connections(), 0);
  });

  it("that only has a private IPv6 address is refused", async (t) => {
    const { exit } = await open(t, ({ type }) => (type === "AAAA" ? [{ address: "fd00::1" }] : []));
    await assert.rejects(exit.ask("http://six.test/"), { message: "private: `six.test` leads to a private address" });
  });

  it("that is another name of one inside is refused", async (t) => {
    const alias = ({ type }: DnsQuery): DnsAnswer =>
      type === "A" ? [{ alias: "internal.corp.test" }, { address: "10.1.2.3" }] : [{ alias: "internal.corp.test" }];
    const { exit } = await open(t, alias);
    await assert.rejects(exit.ask("http://outside.test/"), { code: "NETWORK_BLOCKED" });
    assert.deepEqual(
      exit.pass.events.map(({ host, refused }) => [host, refused]),
      [["outside.test", "private"]],
    );
  });

  it("of a metadata service is refused by what it leads to", async (t) => {
    const { exit } = await open(t, onlyA("169.254.169.254"));
    await assert.rejects(exit.ask("http://metadata.google.internal/computeMetadata/v1/"), {
      message: "metadata: `metadata.google.internal` leads to a cloud metadata address",
    });
  });

  it("of this very machine is not asked of anybody, and is refused", async (t) => {
    const { exit, dns } = await open(t, onlyA("93.184.215.14"), { granted: [] });
    for (const host of ["localhost", "a.localhost", "A.B.LOCALHOST"]) {
      await assert.rejects(exit.ask(`http://${host}/`), { code: "NETWORK_BLOCKED" });
    }
    assert.deepEqual(dns.queries, []);
  });

  it("that the pass refuses is not looked up: a look-up tells its server what was asked", async (t) => {
    const { exit, dns } = await open(t, onlyA("127.0.0.1"), { hosts: ["allowed.test"] });
    for (const host of ["secret-data.evil.test", "x.allowed.test"]) {
      await assert.rejects(exit.ask(`http://${host}/`), { code: "NETWORK_BLOCKED" });
    }
    assert.deepEqual(dns.queries, []);
  });

  it("that does not exist, or has no address, is an error of the other side", async (t) => {
    const none = await open(t, () => "nxdomain");
    await assert.rejects(none.exit.ask("http://none.test/"), {
      code: "UPSTREAM_ERROR",
      message: "`none.test` cannot be resolved",
    });
    const empty = await open(t, () => []);
    await assert.rejects(empty.exit.ask("http://empty.test/"), { code: "UPSTREAM_ERROR" });
    for (const { exit } of [none, empty]) {
      const [event, ...more] = exit.pass.events;
      assert.deepEqual(
        [event?.refused, event?.addressClass, event?.status, more],
        [undefined, undefined, undefined, []],
      );
    }
  });

  it("times out if no DNS server responds", async (t) => {
    const dns = await serveDns(t, () => "silence");
    const resolver = createHostResolver(createServerLookUp([dns.address]), 50);
    await assert.rejects(resolver.resolve({ host: "slow.test", port: 80, sends: false }, { isGranted: () => true }), {
      code: "TIMEOUT",
      message: "`slow.test` was not resolved in time",
    });
  });

  it("whose answer is no address is not dialled", async () => {
    const resolver = createHostResolver(async () => ["not-an-address", "127.0.0.1\0", ""], 50);
    await assert.rejects(resolver.resolve({ host: "odd.test", port: 80, sends: false }, { isGranted: () => true }), {
      code: "UPSTREAM_ERROR",
    });
  });
});
