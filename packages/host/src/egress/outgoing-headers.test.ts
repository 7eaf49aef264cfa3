import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, it, type TestContext } from "node:test";
import type { OutgoingRequest } from "@narthex/kernel";
import type { EgressSecrets } from "./egress-secrets.ts";
import { serveHttp } from "./testing/loopback-servers.ts";
import { openTestExit, type OpenedExit, textOf } from "./testing/test-pass.ts";

type Headers = NonNullable<OutgoingRequest["headers"]>;

const SECRETS: EgressSecrets = new Map<
  string,
  { value: string; hosts: { host: string; ports?: number[] }[] } | { problem: string }
>([
  ["mine", { value: "s3cr3t", hosts: [{ host: "127.0.0.1" }, { host: "localhost" }] }],
  ["elsewhere", { value: "s3cr3t", hosts: [{ host: "api.test" }, { host: "*.0.0.1" }] }],
  ["other-port", { value: "s3cr3t", hosts: [{ host: "127.0.0.1", ports: [1] }] }],
  ["anywhere", { value: "s3cr3t", hosts: [{ host: "*" }] }],
  ["broken", { value: "s3cr3t\r\nx-evil: 1", hosts: [{ host: "*" }] }],
  ["empty", { problem: "its file is not there" }],
]);

interface Asking {
  readonly url: string;
  readonly exit: OpenedExit;
  readonly seen: IncomingMessage["headers"][];
  send(headers: Headers, url?: string): Promise<string>;
}

async function open(t: TestContext): Promise<Asking> {
  const seen: IncomingMessage["headers"][] = [];
  const server = await serveHttp(t, ({ headers }, response) => {
    seen.push(headers);
    response.end("heard");
  });
  const exit = openTestExit(t, {}, { secrets: SECRETS });
  const send = async (headers: Headers, url = server.url): Promise<string> =>
    textOf((await exit.ask(url, { headers })).body);
  return { url: server.url, exit, seen, send };
}

describe("a header", () => {
  it("that would end and begin another, or the message, is not sent", async (t) => {
    const { send, seen, exit } = await open(t);
    const bad: Headers = [
      ["x-a", "1\r\nx-evil: 1"],
      ["x-a", "1\nx-evil: 1"],
      ["x-a", "1\rx-evil: 1"],
      ["x-a", "a\0b"],
      ["x-a", "\u0141"],
      ["x-a", "a\x7fb"],
      ["x-a\r\nx-evil", "1"],
      ["x-a: 1\r\nx-b", "1"],
      ["x a", "1"],
      ["x:a", "1"],
      ["", "1"],
      ["x\0a", "1"],
      ["näme", "1"],
      ["x".repeat(257), "1"],
      ["x-a", "a".repeat(65 * 1024)],
    ];
    for (const header of bad)
      await assert.rejects(send([header]), { code: "INVALID_INPUT" }, JSON.stringify(header[0]));
    assert.deepEqual(seen, []);
    assert.deepEqual(new Set(exit.pass.events.map(({ refused }) => refused)), new Set(["invalid_input"]));
    assert.equal(exit.pass.events.length, bad.length);
  });

  it("that is the gate's own to write cannot be set", async (t) => {
    const { send, seen } = await open(t);
    const own =
      "Host Content-Length Transfer-Encoding Connection Keep-Alive Upgrade TE Trailer Expect X-Unix-Socket".split(" ");
    const proxy = ["Proxy-Authorization", "proxy-connection", "PROXY-anything", "HTTP2-Settings"];
    for (const name of [...own, ...proxy]) {
      await assert.rejects(send([[name, "x"]]), {
        code: "INVALID_INPUT",
        message: `the header \`${name.toLowerCase()}\` cannot be set`,
      });
    }
    assert.deepEqual(seen, []);
  });

  it("that makes another method of one that only reads is not sent with it", async (t) => {
    const { send, seen, exit, url } = await open(t);
    for (const name of ["X-HTTP-Method-Override", "x-http-method", "X-Method-Override"]) {
      await assert.rejects(send([[name, "DELETE"]]), /^KernelError: header: /);
      await exit.ask(url, { method: "POST", headers: [[name, "PATCH"]] });
    }
    assert.equal(seen.length, 3);
    assert.deepEqual(exit.pass.events.filter(({ refused }) => refused === "header").length, 3);
  });

  it("is one of a hundred at most", async (t) => {
    const { send } = await open(t);
    const many = (count: number): Headers => Array.from({ length: count }, (_, i) => [`x-${i}`, "1"] as const);
    await assert.rejects(send(many(101)), { code: "INVALID_INPUT" });
    assert.equal(await send(many(97)), "heard");
  });

  it("is sent as it was given, more than once too, with what is usual beside it", async (t) => {
    const { send, seen } = await open(t);
    await send([
      ["X-A", "1"],
      ["x-a", "\x80\xff"],
      ["Accept", "text/x"],
    ]);
    const { accept, "x-a": given, "accept-encoding": packed, host } = seen[0] ?? {};
    assert.deepEqual([accept, given, packed], ["text/x", "1, \x80\xff", "gzip, deflate, br"]);
    assert.match(host ?? "", /^127\.0\.0\.1:\d+$/);
  });

  it("cannot be written by the method", async (t) => {
    const { exit, url, seen } = await open(t);
    for (const method of ["CONNECT", "TRACE", "get", "GET / HTTP/1.1\r\nx: y\r\n\r\nGET", "", "G T", "X".repeat(21)]) {
      await assert.rejects(exit.ask(url, { method }), { code: "INVALID_INPUT" }, method);
    }
    assert.deepEqual(seen, []);
  });
});

describe("a secret", () => {
  it("does not go to a host that is not its own, and the refusal names only it", async (t) => {
    const { send, seen, exit } = await open(t);
    for (const secret of ["elsewhere", "other-port"]) {
      await assert.rejects(send([["authorization", { secret }]]), {
        code: "NETWORK_BLOCKED",
        message: `secret: \`${secret}\` may not be sent to \`127.0.0.1\``,
      });
    }
    assert.deepEqual([seen, exit.pass.events.map(({ refused }) => refused)], [[], ["secret", "secret"]]);
  });

  it("does not go over the wire in the clear, but to this very machine", async (t) => {
    const { send, exit } = await open(t);
    for (const url of [
      "http://api.test/",
      "http://127.evil.test/",
      "http://127.0.0.1.evil.test/",
      "http://localhost.evil.test/",
    ]) {
      const sent = send([["authorization", { secret: "anywhere" }]], url);
      await assert.rejects(sent, { message: "secret: `anywhere` is sent by https only" }, url);
    }
    assert.deepEqual(new Set(exit.pass.events.map(({ refused }) => refused)), new Set(["secret"]));
    assert.equal(await send([["authorization", { secret: "anywhere" }]]), "heard");
  });

  it("is reported as missing if it is unknown or has no value", async (t) => {
    const { send, seen } = await open(t);
    await assert.rejects(send([["x", { secret: "none" }]]), {
      code: "INVALID_INPUT",
      message: "there is no secret `none`",
    });
    await assert.rejects(send([["x", { secret: "__proto__" }]]), { code: "INVALID_INPUT" });
    await assert.rejects(send([["x", { secret: "empty" }]]), {
      code: "EXECUTION_FAILED",
      message: "the secret `empty` has no value: its file is not there",
    });
    assert.deepEqual(seen, []);
  });

  it("that would break the header is not sent, and is not shown", async (t) => {
    const { send, seen } = await open(t);
    await assert.rejects(send([["x", { secret: "broken" }]]), (fault: Error) => {
      assert.doesNotMatch(`${fault.message} ${fault.stack} ${String(fault.cause)}`, /s3cr3t/);
      return true;
    });
    assert.deepEqual(seen, []);
  });

  it("is filled in behind its prefix, or as the password of a name", async (t) => {
    const { send, seen, exit } = await open(t);
    await send([
      ["authorization", { secret: "mine", prefix: "Bearer " }],
      ["x-key", { secret: "mine" }],
      ["x-basic", { secret: "mine", basicUser: "me" }],
    ]);
    const basic = Buffer.from("me:s3cr3t").toString("base64");
    const { authorization, "x-key": key, "x-basic": asBasic } = seen[0] ?? {};
    assert.deepEqual([authorization, key, asBasic], ["Bearer s3cr3t", "s3cr3t", `Basic ${basic}`]);
    assert.doesNotMatch(JSON.stringify(exit.pass.events), /s3cr3t/);
  });

  it("is not looked up for a host that is refused", async (t) => {
    const { url } = await open(t);
    const exit = openTestExit(t, { hosts: [] }, { secrets: SECRETS });
    const asked = exit.ask(url, { headers: [["x", { secret: "none" }]] });
    await assert.rejects(asked, { code: "NETWORK_BLOCKED" });
  });
});
