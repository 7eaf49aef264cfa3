import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { type DnsQuery, serveDns } from "../../packages/host/src/egress/testing/dns-server.ts";
import { createNetworkKernel, type NetworkKernel } from "./network-kernel.ts";

/** As agents would write them; nothing of it may reach PORT, and no name is asked of anybody but the test's server. */
const SPELLINGS: readonly string[] = [
  ..."127.0.0.1 localhost LOCALHOST LOCALHOST. foo.localhost 0 0.0.0.0 127.1 2130706433 0x7f000001 0177.0.0.1".split(
    " ",
  ),
  ..."127.0.0.1. [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] [::127.0.0.1]".split(" "),
  ..."[64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1%25eth0] [fd00:ec2::254] 169.254.169.254 100.100.100.200".split(" "),
  ..."168.63.129.16 192.0.0.192 metadata.google.internal 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1".split(" "),
  ..."[fc00::1] 224.0.0.1 255.255.255.255 several.test alias.test sixth.test rebind.test".split(" "),
];

const CLASS = /\b(?:loopback|private|link_local|metadata|own|multicast|unspecified|reserved|host): /;

/** One answer each, as a hostile zone would give it. */
const ZONE: Readonly<Record<string, (query: DnsQuery) => Awaited<ReturnType<Parameters<typeof serveDns>[1]>>>> = {
  "metadata.google.internal": ({ type }) => (type === "A" ? [{ address: "169.254.169.254" }] : []),
  "several.test": ({ type }) => (type === "A" ? [{ address: "93.184.215.14" }, { address: "127.0.0.1" }] : []),
  "alias.test": ({ type }) => (type === "A" ? [{ alias: "inside.test" }, { address: "127.0.0.1" }] : []),
  "sixth.test": ({ type }) => (type === "AAAA" ? [{ address: "::1" }] : []),
  // Public when it is judged, private ever after: with a life of zero seconds, as all of these.
  "rebind.test": ({ type, turn }) => (type === "A" ? [{ address: turn === 1 ? "198.51.100.1" : "127.0.0.1" }] : []),
};

describe("every spelling of an internal address, under a lease for every host", { timeout: 180_000 }, () => {
  let at: NetworkKernel;
  let port = 0;
  let reached = 0;
  const used = new AsyncDisposableStack();
  before(async () => {
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "::", resolve));
    port = (server.address() as AddressInfo).port;
    used.defer(() => void server.close());
    const dns = await serveDns({ after: (end) => used.defer(end) }, (query) => ZONE[query.name]?.(query) ?? "nxdomain");
    // Refused addresses are violations, and all of these would quarantine the session before the last.
    const quarantine = "session: { quarantine: { violations: 1000, window_ms: 1000 } }";
    const configuration = `${quarantine}\nnetwork: { dns: ["${dns.address}"] }`;
    at = used.use(await createNetworkKernel({ configuration }));
  });
  after(() => used.disposeAsync());

  it("is denied to tools, and names its address class", async () => {
    const session = await at.open({ reads: ["*"], sends: ["*"] });
    const answers = await Promise.all(
      SPELLINGS.flatMap((host) =>
        (["http_fetch", "web_fetch"] as const).map(async (tool) => {
          const { code, message } = await session.refused(tool, { url: `http://${host}:${port}/` });
          return [host, code, message] as const;
        }),
      ),
    );
    for (const [host, code, message] of answers) {
      assert.match(code, /^(?:NETWORK_BLOCKED|INVALID_INPUT)$/, `${host}: ${message}`);
      if (code === "NETWORK_BLOCKED") assert.match(message, CLASS, host);
    }
    assert.equal(reached, 0);
    const refusals = await session.egress();
    assert.ok(refusals.length > 40 && refusals.every((line) => line.startsWith("refused GET ")), refusals.join("\n"));
  });

  it("is denied to curl in the sandbox, by plain requests and by tunnels", async () => {
    const session = await at.open({ reads: ["*"], sends: ["*"] });
    const list = SPELLINGS.map((host) => `'${host}'`).join(" ");
    const curl = `curl -s -g -m 20 --noproxy "" -o /dev/null -w '%{http_code}/%{http_connect} '`;
    const command = `for h in ${list}; do for s in http https; do ${curl} "$s://$h:${port}/"; done; done; true`;
    const answer = await session.ask("shell_exec", { command, network_access: true });
    const codes = String((answer["stdout"] as JsonObject)["text"])
      .trim()
      .split(" ");
    assert.equal(codes.length, SPELLINGS.length * 2, String((answer["stderr"] as JsonObject)["text"]));
    // 403 to a plain request or to CONNECT; nothing at all for what curl itself takes for no host.
    for (const code of codes) assert.match(code, /^(?:403\/000|000\/403|000\/000)$/);
    assert.ok(codes.filter((code) => code !== "000/000").length > 60, codes.join(" "));
    assert.equal(reached, 0);
    assert.ok((await session.egress()).every((line) => line.startsWith("refused ")));
  });

  it("gains nothing by contradictory requests to the gate, or without its credential", async () => {
    const session = await at.open({ reads: ["allowed.test"], sends: ["allowed.test"] });
    const inside = `127.0.0.1:${port}`;
    const body = "GET / HTTP/1.1\\r\\nHost: inside\\r\\n\\r\\n";
    const messages: Readonly<Record<string, string>> = {
      "another host in Host": `GET http://${inside}/ HTTP/1.1\\r\\nHost: allowed.test\\r\\nAUTH\\r\\n\\r\\n`,
      "a path and a Host": `GET / HTTP/1.1\\r\\nHost: ${inside}\\r\\nAUTH\\r\\n\\r\\n`,
      "two lengths": `POST http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\nAUTH\\r\\nContent-Length: 3\\r\\nContent-Length: 30\\r\\n\\r\\n${body}`,
      "a length and chunks": `POST http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\nAUTH\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n${body}`,
      "a length in a folded line": `GET http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\nAUTH\\r\\nX: y\\r\\n Content-Length: 3\\r\\n\\r\\n`,
      "an upgrade": `GET http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\nAUTH\\r\\nConnection: Upgrade, HTTP2-Settings\\r\\nUpgrade: h2c\\r\\nHTTP2-Settings: AAMAAABkAAQAAP__\\r\\n\\r\\n`,
      "a websocket": `GET http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\nAUTH\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n`,
      "HTTP/2 as such": "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n",
      "a tunnel to an address": `CONNECT ${inside} HTTP/1.1\\r\\nHost: allowed.test\\r\\nAUTH\\r\\n\\r\\n`,
      "no word": `GET http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n`,
      "another call's word": `GET http://${inside}/ HTTP/1.1\\r\\nHost: a\\r\\nProxy-Authorization: Basic bmFydGhleDphYmM=\\r\\n\\r\\n`,
      "another call's word for a tunnel": `CONNECT ${inside} HTTP/1.1\\r\\nHost: a\\r\\nProxy-Authorization: Basic bmFydGhleDphYmM=\\r\\n\\r\\n`,
    };
    const command = `perl -MIO::Socket::INET -MMIME::Base64 -e '
      my ($user) = $ENV{http_proxy} =~ m{//(.*)@}; my $auth = "Proxy-Authorization: Basic " . encode_base64($user, "");
      for my $m (@ARGV) {
        $m =~ s/\\\\r/\\r/g; $m =~ s/\\\\n/\\n/g; $m =~ s/AUTH/$auth/g;
        my $s = IO::Socket::INET->new("127.0.0.1:3128") or die $!;
        print $s $m; shutdown $s, 1; my $line = <$s> // "nothing"; $line =~ s/\\r?\\n//; print "$line\\n";
      }' ${Object.values(messages)
        .map((text) => `'${text}'`)
        .join(" ")}`;
    const answer = await session.ask("shell_exec", { command, network_access: true });
    const lines = String((answer["stdout"] as JsonObject)["text"])
      .trim()
      .split("\n");
    assert.equal(lines.length, Object.keys(messages).length, JSON.stringify(answer));
    Object.keys(messages).forEach((name, index) => {
      assert.match(lines[index] ?? "", /^(?:HTTP\/1\.1 (?:400|403|407)|nothing)/, `${name}: ${lines[index]}`);
    });
    assert.equal(reached, 0);
  });
});
