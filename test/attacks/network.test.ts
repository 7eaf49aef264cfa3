import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { serveDns } from "../../packages/host/src/egress/testing/dns-server.ts";
import { startServer } from "../network/network-kernel.ts";
import { codeOf, serveKernel } from "./served-kernel.ts";

const UNASKED = '@id("unasked") @approve("none") permit(principal, action == Action::"http_fetch", resource);\n';

const used = new AsyncDisposableStack();
after(() => used.disposeAsync());

/** Both may be asked; what one leads to is the agent's choice. */
const granted = used.use(await startServer((request, response) => lead(request.url ?? "", response)));
const second = used.use(await startServer((_, response) => void response.end("arrived")));
/** Nobody may ask this one. */
const refused = used.use(await startServer((_, response) => void response.end("inside")));
/** Every name is this machine, which only an address can give leave to ask. */
const dns = await serveDns({ after: (end) => used.defer(end) }, ({ type }) =>
  type === "A" ? [{ address: "127.0.0.1" }] : [],
);

const hosts = (...names: readonly string[]): JsonObject => ({
  capabilities: [
    {
      kind: "net_read",
      hosts: [
        ...names.map((host) => ({ host })),
        ...[granted, second].map(({ port }) => ({ host: "127.0.0.1", ports: [port] })),
      ],
    },
  ],
});

const kernel = await serveKernel({
  configuration: `network: { dns: ["${dns.address}"] }\nsession: {quarantine: {violations: 1000, window_ms: 1000}}\n`,
  rules: UNASKED,
  lease: () => hosts("allowed.test", "*.wild.test"),
});
used.defer(() => kernel.stop());

function lead(path: string, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(path, "http://granted");
  const [, kind, number] = pathname.split("/");
  if (kind === "go") response.writeHead(Number(number), { location: searchParams.get("to") ?? "" }).end();
  else if (kind === "hop") response.writeHead(302, { location: `/hop/${Number(number) - 1}` }).end();
  else response.end("granted");
}

interface Ending {
  readonly code: string;
  readonly message: string;
  readonly body: string;
}

async function fetchFrom(url: string, more: JsonObject = {}): Promise<Ending> {
  const response = await kernel.call("http_fetch", JSON.stringify({ url, ...more }));
  const { result } = response;
  if (result.case === "success")
    return { code: "", message: "", body: Buffer.from(result.value.inlineResult).toString() };
  return { code: codeOf(response), message: result.value?.message ?? "", body: "" };
}

const leading = (to: string, code = 302): string => `http://${granted.place}/go/${code}?to=${encodeURIComponent(to)}`;

describe("a lease for a host", { timeout: 120_000 }, () => {
  it("rejects unusual spellings of it", async () => {
    for (const host of [
      ..."127.1 2130706433 0x7f000001 0177.0.0.1 127.0.0.1. localhost. a.com. a..com .a.com *a.com a.*.com ** *.1".split(
        " ",
      ),
      ..."[::1] ::ffff:127.0.0.1 fe80::1%eth0 a.com:443 http://a.com user@a.com a.com/x a\\b.com bücher.de аpple.com".split(
        " ",
      ),
      "a\0.com",
      "a。com",
      "",
    ]) {
      await assert.rejects(
        kernel.openSession({ capabilities: [{ kind: "net_read", hosts: [{ host }] }] }),
        /LEASE_INVALID/,
        JSON.stringify(host),
      );
    }
  });

  it("does not cover lookalike names, and denies these without asking a person", async () => {
    for (const host of [
      ..."allowed.test.evil.test evilallowed.test sub.allowed.test allowed.tes wild.test evilwild.test".split(" "),
      ..."a.wild.test.evil.test evil%00.wild.test evil\0.wild.test allowed.test%00.evil.test allowed.test. a.wild.test.".split(
        " ",
      ),
      ..."allowed.test@evil.test allowed.test:80@evil.test allowed.test\\@evil.test evil.test#allowed.test".split(" "),
    ]) {
      const { code, message } = await fetchFrom(`http://${host}/`);
      assert.match(code, /^(?:CAPABILITY_MISSING|NETWORK_BLOCKED|INVALID_INPUT)$/, `${host}: ${message}`);
    }
    assert.deepEqual(dns.queries, []);
  });

  it("does not cover names in other alphabets, plain or encoded", async () => {
    for (const host of ["аllowed.test", "allowеd.test", "xn--llowed-5cd.test", "a.wіld.test", "xn--80ak6aa92e.test"]) {
      assert.match((await fetchFrom(`http://${host}/`)).code, /^(?:CAPABILITY_MISSING|INVALID_INPUT)$/, host);
    }
    assert.deepEqual(dns.queries, []);
  });

  it("covers it in capitals, and the resolved address is checked", async () => {
    for (const host of ["ALLOWED.test", "a.wild.test"]) {
      const { code, message } = await fetchFrom(`http://${host}:${refused.port}/`);
      assert.deepEqual([code, /loopback/.test(message)], ["NETWORK_BLOCKED", true], message);
    }
    assert.ok(dns.queries.length > 0);
    assert.equal(refused.requests.length, 0);
  });
});

describe("an address", { timeout: 120_000 }, () => {
  it("with another scheme than http and https is rejected, and no header can name a socket", async () => {
    for (const url of [
      "file:///etc/passwd",
      "FILE:///etc/passwd",
      `gopher://${granted.place}/_GET`,
      `ftp://${granted.place}/`,
      "data:text/plain,hello",
      `blob:http://${granted.place}/1`,
      `jar:http://${granted.place}/a.jar!/b`,
      "unix:/var/run/docker.sock",
      "http+unix://%2fvar%2frun%2fdocker.sock/x",
    ]) {
      assert.match((await fetchFrom(url)).code, /^(?:NETWORK_BLOCKED|INVALID_INPUT)$/, url);
    }
    for (const name of ["x-unix-socket", "X-Unix-Socket", "host", "connection", "transfer-encoding"]) {
      const headers = [`${name}: /var/run/docker.sock`];
      const { code, message } = await fetchFrom(`http://${granted.place}/`, { headers });
      assert.match(code, /^(?:NETWORK_BLOCKED|INVALID_INPUT)$/, name);
      assert.match(message, new RegExp(name, "i"));
    }
    assert.equal(granted.requests.length, 0);
  });

  it("reached by a redirect is checked like any other, whatever the status code", async () => {
    for (const code of [301, 302, 303, 307, 308]) {
      assert.equal((await fetchFrom(leading(`http://${refused.place}/`, code))).code, "NETWORK_BLOCKED");
    }
    for (const place of ["http://169.254.169.254/latest", "file:///etc/passwd", "gopher://allowed.test/", "data:,x"]) {
      assert.equal((await fetchFrom(leading(place))).code, "NETWORK_BLOCKED", place);
    }
    const named = await fetchFrom(leading(`http://me:hunter2@${second.place}/`));
    assert.equal(named.code, "NETWORK_BLOCKED");
    assert.doesNotMatch(named.message, /hunter2/);
    assert.deepEqual([refused.requests.length, second.requests.length], [0, 0]);
  });

  it("reached by a redirect does not receive the first request's credentials", async () => {
    const headers = ["authorization", "cookie", "x-api-key"].map((name) => `${name}: mine`);
    const { body, message } = await fetchFrom(leading(`http://${second.place}/`), { headers });
    assert.match(body, /arrived/, message);
    assert.equal(granted.requests.at(-1)?.headers.authorization, "mine");
    assert.doesNotMatch(JSON.stringify(second.requests), /mine/);
  });

  it("with endless redirects is requested a limited number of times", async () => {
    const before = granted.requests.length;
    assert.match((await fetchFrom(`http://${granted.place}/hop/50`)).code, /^(?:NETWORK_BLOCKED|UPSTREAM_ERROR)$/);
    assert.ok(granted.requests.length - before <= 11, String(granted.requests.length - before));
  });
});

it("all calls are in the ledger afterwards, and it is sound", async () => {
  assert.match((await fetchFrom(`http://${granted.place}/`)).body, /granted/);
  await kernel.assertSound();
});
