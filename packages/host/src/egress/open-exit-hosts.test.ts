import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { describe, it } from "node:test";
import { addressBytes } from "./address-class.ts";
import { createOwnAddressCheck } from "./own-address-check.ts";
import { serveHttp } from "./testing/loopback-servers.ts";
import { openTestExit, textOf } from "./testing/test-pass.ts";

/** By which words a refusal begins, and what was spelled. PORT is that of a server that must not hear of it. */
const SPELLINGS: readonly (readonly [reason: string, hosts: readonly string[]])[] = [
  [
    "loopback",
    [
      ..."127.0.0.1 localhost LOCALHOST foo.localhost 127.1 2130706433 0x7f000001 0177.0.0.1 127.0.0.1. 127.0.0.2".split(
        " ",
      ),
      ..."127.255.255.254 0x7f.1 017700000001 %31%32%37.0.0.1 １２７.0.0.1 ⑫7.0.0.1 127。0。0。1".split(" "),
      ..."[::1] [::127.0.0.1] [::7f00:1]".split(" "),
      ..."[64:ff9b::7f00:1] [2002:7f00:1::] [::ffff:0:7f00:1] [0000:0:0::0001]".split(" "),
    ],
  ],
  ["unspecified", ["0", "0.0.0.0", "[::]", "0x0", "0.1.2.3"]],
  [
    "metadata",
    "169.254.169.254 2852039166 0xa9fea9fe 100.100.100.200 168.63.129.16 192.0.0.192 [fd00:ec2::254]".split(" "),
  ],
  [
    "private",
    "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1 100.64.0.1 [fc00::1] [fd12::1]".split(" "),
  ],
  ["link_local", ["169.254.1.1", "[fe80::1]"]],
  ["multicast", ["224.0.0.1", "239.1.2.3", "[ff02::1]"]],
  ["reserved", ["255.255.255.255", "240.0.0.1", "192.0.2.1", "[2001:db8::1]"]],
];

/** No host at all, or none that has one reading. */
const NO_HOSTS: readonly string[] = [
  "http://LOCALHOST.:PORT/",
  "http://localhost.:PORT/",
  "http://allowed.test.:PORT/",
  "http://[fe80::1%eth0]:PORT/",
  "http://[fe80::1%25eth0]:PORT/",
  "http://[::1%lo]:PORT/",
  "http://evil\0.allowed.test:PORT/",
  "http://evil%00.allowed.test:PORT/",
  "http://allowed.test%00.evil.test:PORT/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "http://[::ffff:7f00:1]:PORT/",
  "http://[0:0:0:0:0:ffff:7f00:1]:PORT/",
  "http://[::ffff:169.254.169.254]:PORT/",
  "http://[::ffff:8.8.8.8]:PORT/",
  "http://[::ffff:0:0]:PORT/",
  "http://1.2.3.4.5:PORT/",
  "http://0x7f.0.0.0.1:PORT/",
  "http://256.256.256.256:PORT/",
  "http://a..b:PORT/",
  "http://*.allowed.test:PORT/",
  "http://*:PORT/",
  "http://allowed.test:99999/",
  "http://",
  "http:///",
  "//127.0.0.1:PORT/",
  "127.0.0.1:PORT",
  "/etc/passwd",
  "",
  `http://${"a".repeat(64)}.test/`,
  `http://${"a.".repeat(130)}test/`,
];

const SCHEMES: readonly string[] = [
  "file:///etc/passwd",
  "FILE:///etc/passwd",
  "file://127.0.0.1/etc/passwd",
  "gopher://127.0.0.1:PORT/_GET",
  "ftp://127.0.0.1:PORT/",
  "data:text/plain,hello",
  "blob:http://127.0.0.1:PORT/1",
  "jar:http://127.0.0.1:PORT/a.jar!/b",
  "unix:/var/run/docker.sock",
  "http+unix://%2fvar%2frun%2fdocker.sock/x",
  "javascript:alert(1)",
  "ws://127.0.0.1:PORT/",
  "wss://127.0.0.1:PORT/",
  "view-source:http://127.0.0.1:PORT/",
];

describe("a request to an address that was not granted", () => {
  it("is refused for every spelling of it, before anything is dialled", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t, { granted: [] });
    for (const [reason, hosts] of SPELLINGS) {
      for (const host of hosts) {
        const before = exit.pass.events.length;
        await assert.rejects(exit.ask(`http://${host}:${server.port}/`), (fault: Error & { code: string }) => {
          assert.equal(fault.code, "NETWORK_BLOCKED", host);
          assert.ok(fault.message.startsWith(`${reason}: `), `${host}: ${fault.message}`);
          return true;
        });
        const [event, ...more] = exit.pass.events.slice(before);
        assert.deepEqual(
          [event?.refused, event?.addressClass, event?.port, more],
          [reason, reason, server.port, []],
          host,
        );
      }
    }
    assert.equal(server.connections(), 0);
  });

  it("is refused by https and for other methods alike", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t, { granted: [] });
    for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      for (const scheme of ["http", "https"]) {
        await assert.rejects(exit.ask(`${scheme}://localhost:${server.port}/`, { method }), {
          code: "NETWORK_BLOCKED",
        });
      }
    }
    assert.equal(server.connections(), 0);
  });

  it("is refused where another address or port is granted", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t, { granted: ["127.0.0.2", "::1", "10.0.0.1"] });
    await assert.rejects(exit.ask(server.url), { message: "loopback: `127.0.0.1` is loopback" });
    await assert.rejects(exit.ask(`http://[::ffff:127.0.0.1]:${server.port}`), { code: "NETWORK_BLOCKED" });
    assert.equal(server.connections(), 0);
  });

  it("is let through where that very address is granted, however it was spelled", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t, { granted: ["127.0.0.1"] });
    for (const host of ["127.0.0.1", "127.1", "2130706433", "localhost", "LocalHost"]) {
      const answer = await exit.ask(`http://${host}:${server.port}/`);
      assert.equal(await textOf(answer.body), "reached", host);
    }
    assert.deepEqual(new Set(exit.pass.events.map((event) => event.addressClass)), new Set(["loopback"]));
  });
});

describe("a URL", () => {
  it("that names no host in one way only is refused before anybody is asked about it", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t);
    for (const url of NO_HOSTS) {
      const before = exit.pass.events.length;
      await assert.rejects(exit.ask(url.replace("PORT", String(server.port))), { code: "NETWORK_BLOCKED" }, url);
      assert.equal(exit.pass.events.length, before + 1, url);
    }
    assert.deepEqual([exit.pass.asked, server.connections()], [[], 0]);
  });

  it("of another scheme than http and https is refused", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t);
    for (const url of SCHEMES) {
      await assert.rejects(exit.ask(url.replace("PORT", String(server.port))), /^KernelError: scheme: /, url);
    }
    assert.deepEqual(new Set(exit.pass.events.map((event) => event.refused)), new Set(["scheme"]));
    assert.deepEqual([exit.pass.asked, exit.pass.events.length, server.connections()], [[], SCHEMES.length, 0]);
  });

  it("with a name or password in it is refused, and neither is repeated", async (t) => {
    const server = await serveHttp(t, (_, response) => response.end("reached"));
    const exit = openTestExit(t);
    for (const user of [
      "me:hunter2@",
      "hunter2@",
      ":hunter2@",
      "allowed.test%40hunter2@",
      "allowed.test:80@hunter2@",
    ]) {
      await assert.rejects(exit.ask(`http://${user}127.0.0.1:${server.port}/`), (fault: Error) => {
        assert.match(fault.message, /^credentials: /);
        assert.doesNotMatch(fault.message, /hunter2/);
        return true;
      });
    }
    assert.doesNotMatch(JSON.stringify(exit.pass.events), /hunter2/);
    assert.deepEqual([exit.pass.events.length, server.connections()], [5, 0]);
  });

  it("is asked about by the host that is dialled, not by the one it looks like", async (t) => {
    const exit = openTestExit(t, { hosts: ["allowed.test"] });
    const spelled: Readonly<Record<string, string>> = {
      "http://allowed.test.evil.org/": "allowed.test.evil.org",
      "http://evilallowed.test/": "evilallowed.test",
      "http://sub.allowed.test/": "sub.allowed.test",
      "http://evil.org\\@allowed.test/": "evil.org",
      "http://evil.org\\.allowed.test/": "evil.org",
      "http://evil.org#@allowed.test/": "evil.org",
      "http://evil.org?@allowed.test/": "evil.org",
      "http://evil.org/@allowed.test/": "evil.org",
      "http:\\\\evil.org\\allowed.test": "evil.org",
      "http:evil.org": "evil.org",
      " http://evil.org/\t": "evil.org",
      "http://ev\nil.org/": "evil.org",
      "http://аllowed.test/": "xn--llowed-2nf.test",
      "http://allowed.tеst/": "allowed.xn--tst-rdd",
      "http://xn--llowed-2nf.test/": "xn--llowed-2nf.test",
    };
    for (const [url, host] of Object.entries(spelled)) {
      await assert.rejects(exit.ask(url), { code: "NETWORK_BLOCKED" }, url);
      assert.equal(exit.pass.asked.at(-1)?.host, host, url);
      assert.deepEqual([exit.pass.events.at(-1)?.host, exit.pass.events.at(-1)?.refused], [host, "host"], url);
    }
  });

  it("has its host in lower case and its port in full when it is asked about", async (t) => {
    const exit = openTestExit(t, { hosts: [] });
    for (const url of ["http://ALLOWED.Test/", "https://Allowed.test/", "https://allowed.test:8443/"]) {
      await assert.rejects(exit.ask(url, { method: "POST" }), { code: "NETWORK_BLOCKED" });
    }
    assert.deepEqual(
      exit.pass.asked,
      [80, 443, 8443].map((port) => ({ host: "allowed.test", port, sends: true })),
    );
  });
});

describe("this host's own addresses", () => {
  it("are known, whatever class they are of", () => {
    const isOwn = createOwnAddressCheck();
    for (const { address } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
      assert.ok(isOwn(addressBytes(address)), address);
    }
    assert.ok(!isOwn(addressBytes("8.8.8.8")));
  });

  it("are read again once they are old", () => {
    let now = 0;
    const isOwn = createOwnAddressCheck(() => now);
    assert.ok(isOwn(addressBytes("127.0.0.1")));
    now = 60_000;
    assert.ok(isOwn(addressBytes("127.0.0.1")));
  });
});
