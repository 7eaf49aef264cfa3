import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { after, describe, it, type TestContext } from "node:test";
import type { TLSSocket, TlsOptions } from "node:tls";
import type { LookUp } from "./resolve-host.ts";
import { type CountingServer, serveRaw, serveTls } from "./testing/loopback-servers.ts";
import { createTestAuthority } from "./testing/test-authority.ts";
import { openTestExit, textOf } from "./testing/test-pass.ts";

const authority = createTestAuthority();
const stranger = createTestAuthority();
const pair = authority.issue(["DNS:named.test", "IP:127.0.0.1"]);
after(() => {
  authority.remove();
  stranger.remove();
});

const lookUp: LookUp = async () => ["127.0.0.1"];
const authorities = [authority.authority];

interface Served extends CountingServer {
  /** The names that clients asked for. */
  readonly names: (string | false | undefined)[];
  readonly heard: string[];
}

async function serve(t: TestContext, options: TlsOptions): Promise<Served> {
  const names: Served["names"] = [];
  const heard: string[] = [];
  const server = await serveTls(t, options, (socket: Socket) => {
    names.push((socket as TLSSocket & { servername?: string | false }).servername);
    socket.once("data", (chunk: Buffer) => {
      heard.push(chunk.toString());
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecure");
    });
  });
  return { ...server, names, heard };
}

describe("a request by https", () => {
  it("sends nothing to a server with an untrusted certificate, and says why", async (t) => {
    const untrusted = await serve(t, pair);
    const unknown = openTestExit(t, {}, { lookUp });
    await assert.rejects(unknown.ask(`https://named.test:${untrusted.port}/`), {
      code: "UPSTREAM_ERROR",
      message: /^the certificate of `named\.test` is not valid \(.*(?:CERT|SIGN|ISSUER).*\)$/,
    });
    const other = openTestExit(t, {}, { lookUp, authorities: [stranger.authority] });
    await assert.rejects(
      other.ask(`https://named.test:${untrusted.port}/`),
      /the certificate of `named\.test` is not valid/,
    );
    assert.deepEqual(untrusted.heard, []);
    for (const { pass } of [unknown, other]) {
      assert.deepEqual(
        pass.events.map(({ refused, addressClass }) => [refused, addressClass]),
        [[undefined, "loopback"]],
      );
    }
  });

  it("to a server with another one's certificate sends nothing, and says why", async (t) => {
    const server = await serve(t, pair);
    const exit = openTestExit(t, { granted: ["127.0.0.1", "127.0.0.2"] }, { lookUp, authorities });
    for (const host of ["other.test", "sub.named.test", "localhost"]) {
      await assert.rejects(exit.ask(`https://${host}:${server.port}/`), {
        code: "UPSTREAM_ERROR",
        message: `the certificate of \`${host}\` is not valid (ERR_TLS_CERT_ALTNAME_INVALID)`,
      });
    }
    const byAddress = await serve(t, stranger.issue(["DNS:127.0.0.1"]));
    const trusting = openTestExit(t, {}, { authorities: [stranger.authority] });
    await assert.rejects(
      trusting.ask(`https://127.0.0.1:${byAddress.port}/`),
      /the certificate of `127\.0\.0\.1` is not valid/,
    );
    assert.deepEqual([server.heard, byAddress.heard], [[], []]);
  });

  it("names the server it wants, unless that is an address", async (t) => {
    const server = await serve(t, pair);
    const exit = openTestExit(t, {}, { lookUp, authorities });
    for (const host of ["named.test", "127.0.0.1"]) {
      const answer = await exit.ask(`https://${host}:${server.port}/`);
      assert.equal(await textOf(answer.body), "secure");
    }
    assert.deepEqual(server.names, ["named.test", false]);
    assert.match(server.heard[0] ?? "", new RegExp(`^GET / HTTP/1\\.1\\r\\nhost: named\\.test:${server.port}\\r\\n`));
  });

  it("does not speak old TLS, nor HTTP/2", async (t) => {
    const old = await serve(t, { ...pair, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" });
    const exit = openTestExit(t, {}, { lookUp, authorities });
    await assert.rejects(exit.ask(`https://named.test:${old.port}/`), { code: "UPSTREAM_ERROR" });
    const newer = await serve(t, { ...pair, ALPNProtocols: ["h2"] });
    await assert.rejects(exit.ask(`https://named.test:${newer.port}/`), { code: "UPSTREAM_ERROR" });
    assert.deepEqual([old.heard, newer.heard], [[], []]);
  });

  it("to a server that speaks no TLS, or says nothing, ends in time", async (t) => {
    const exit = openTestExit(t, {}, { lookUp, authorities, times: { connectMs: 300 } });
    const plain = await serveRaw(t, (socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad\r\n\r\n")));
    await assert.rejects(exit.ask(`https://named.test:${plain.port}/`), { code: "UPSTREAM_ERROR" });
    const silent = await serveRaw(t, (socket) => void socket.resume());
    await assert.rejects(exit.ask(`https://named.test:${silent.port}/`), {
      code: "TIMEOUT",
      message: "`named.test` did not answer in time",
    });
    while (silent.open() > 0) await new Promise(setImmediate);
    assert.equal(exit.pass.events.length, 2);
  });
});
