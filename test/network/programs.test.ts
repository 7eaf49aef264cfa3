import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import {
  createNetworkKernel,
  type NetworkKernel,
  type NetworkSession,
  startServer,
  type TestServer,
} from "./network-kernel.ts";

async function run(
  { ask }: NetworkSession,
  command: string,
  more: JsonObject = {},
): Promise<[code: unknown, out: string]> {
  const answer = await ask("shell_exec", { command, network_access: true, ...more });
  const textOf = (name: string): string => String((answer[name] as JsonObject)["text"]);
  return [answer["exit_code"], textOf("stdout") + textOf("stderr")];
}

describe("programs in the sandbox", { timeout: 240_000 }, () => {
  let at: NetworkKernel;
  let server: TestServer;
  const used = new AsyncDisposableStack();
  before(async () => {
    server = used.use(
      await startServer((request, response) => {
        request.resume();
        response.end(`hello ${request.method}`);
      }),
    );
    at = used.use(await createNetworkKernel());
  });
  after(() => used.disposeAsync());

  it("have no network unless it was requested", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [code, out] = await run(session, `curl -s -m 5 http://${server.place}/`, { network_access: false });
    assert.deepEqual([code, out], [7, ""]);
    assert.equal((await session.egress()).length, 0);
  });

  it("are denied the network if no host is granted", async () => {
    const session = await at.open({});
    const { code } = await session.refused("shell_exec", { command: "true", network_access: true });
    assert.equal(code, "CAPABILITY_MISSING");
  });

  it("reach a granted host by the proxy that is configured for them", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    assert.deepEqual(await run(session, `curl -sS -m 20 -x "$http_proxy" --noproxy "" http://${server.place}/a`), [
      0,
      "hello GET",
    ]);
    assert.deepEqual(await session.egress(), [`GET ${server.place} loopback 200`]);
  });

  it("can send only with send permission", async () => {
    const session = await at.open({ reads: [server.place] });
    const command = `curl -sS -m 20 -x "$http_proxy" --noproxy "" -d x http://${server.place}/a; curl -sS -m 20 -x "$http_proxy" --noproxy "" http://${server.place}/b`;
    const before = server.requests.length;
    const input = { command, network_access: true, network_read_only: true };
    const { code, message } = await session.refused("shell_exec", input);
    assert.deepEqual([code, /`net_write`/.test(message)], ["UNDECLARED_EFFECT", true], message);
    assert.deepEqual(
      server.requests.slice(before).map(({ line }) => line),
      ["GET /b"],
    );
  });

  it("are told which host was denied, and the call continues", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [code, out] = await run(session, 'curl -sS -m 20 http://example.com/; echo "and on"');
    assert.equal(code, 0);
    assert.match(out, /NETWORK_BLOCKED: host: CAPABILITY_MISSING[^]*and on\n$/);
    assert.deepEqual(await session.egress(), ["refused GET example.com:80 host"]);
  });

  it("have no route except the gate: no name, no address, no other loopback port", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [, out] = await run(
      session,
      `getent hosts example.com; unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
       curl -sS -m 5 http://${server.place}/; curl -sS -m 5 http://93.184.216.34/; true`,
    );
    assert.doesNotMatch(out, /hello/);
    assert.equal((await session.egress()).length, 0);
  });

  it("can open no unix socket of their own, even through a program that forwards requests", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [, out] = await run(
      session,
      `perl -MSocket -e 'print socket(my $s, PF_UNIX, SOCK_STREAM, 0) ? "open" : "no: $!"'
       for p in /proc/[0-9]*; do if grep -qs gate $p/cmdline; then cat $p/mem 2>&1 | head -c 60; ls $p/fd 2>&1 | head -c 90; fi; done`,
    );
    assert.match(out, /^no: Address family not supported/);
    assert.doesNotMatch(out, /socket:/);
  });

  it("send nothing past the gate: no datagram, no raw packet, no other address family", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [, out] = await run(
      session,
      `perl -MSocket -e '
        for ([udp => 2, 2, 0], [raw => 2, 3, 1], [icmp => 2, 2, 1], [sctp => 2, 1, 132], [netlink => 16, 3, 0], [packet => 17, 3, 0], [vsock => 40, 1, 0]) {
          my ($name, @kind) = @$_;
          print "$name ", socket(my $s, $kind[0], $kind[1], $kind[2]) && send($s, "x", 0, pack_sockaddr_in(53, inet_aton("9.9.9.9"))) ? "SENT" : "no", "\n";
        }'`,
    );
    assert.equal(
      out,
      ["udp", "raw", "icmp", "sctp", "netlink", "packet", "vsock"].map((name) => `${name} no\n`).join(""),
    );
  });

  it("accept no connections from outside", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const running = run(
      session,
      `perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0); bind($s, pack_sockaddr_in(${port}, INADDR_ANY)) and listen($s, 1) or die $!; open my $f, ">", "listens"; close $f; sleep 1 until -e "over"; print "listened"'`,
    );
    const file = (name: string): string => `${at.workspace}/${name}`;
    while (!existsSync(file("listens"))) await new Promise((resolve) => setTimeout(resolve, 20));
    const came = await new Promise((resolve) =>
      connect(port, "127.0.0.1").once("error", resolve).once("connect", resolve),
    );
    await session.ask("file_write", { path: "over", content: "" });
    assert.ok(came instanceof Error);
    assert.deepEqual(await running, [0, "listened"]);
  });

  it("are rejected without the call's own credential", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [, out] = await run(
      session,
      `curl -s -m 20 -x http://127.0.0.1:3128 --noproxy "" -o /dev/null -w "%{http_code}" http://${server.place}/`,
    );
    assert.equal(out, "407");
  });

  it("leave no network access behind", async () => {
    const session = await at.open({ reads: [server.place], sends: [server.place] });
    const [, out] = await run(session, 'printf %s "$http_proxy"');
    assert.match(out, /^http:\/\/narthex:[\w-]{32}@127\.0\.0\.1:3128$/);
    const refused = new Promise((resolve) =>
      connect(3128, "127.0.0.1").once("error", resolve).once("connect", resolve),
    );
    assert.ok((await refused) instanceof Error);
  });
});
