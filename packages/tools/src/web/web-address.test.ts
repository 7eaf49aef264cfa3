import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { parseWebAddress } from "./web-address.ts";

const REFUSED = [
  "",
  "example.com",
  "//example.com/",
  "/etc/passwd",
  "file:///etc/passwd",
  "gopher://example.com/",
  "ftp://example.com/",
  "data:text/html,hello",
  "blob:https://example.com/0",
  "jar:https://example.com/a.jar!/b",
  "unix:/run/docker.sock",
  "http+unix://%2Frun%2Fdocker.sock/info",
  "javascript:alert(1)",
  "ws://example.com/",
  "view-source:https://example.com/",
  "https://user@example.com/",
  "https://user:password@example.com/",
  "https://allowed.com:@evil.org/",
  "https://allowed.com\\@evil.org/",
  "https:\\\\example.com\\",
  "https://evil.org\0.allowed.com/",
  "https://allowed.com\n.evil.org/",
  "ht\ttps://example.com/",
  "\u0085https://example.com/",
  "https://example.com/\u0000",
  "https://*/",
  "https://*.example.com/",
  "https://localhost./",
  "https://example.com./",
  "https://exa mple.com/",
  "https://example..com/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[0:0:0:0:0:ffff:7f00:1]/",
  "https://[fe80::1%25eth0]/",
  "https://[::1/",
  "https://example.com:0/",
  "https://example.com:65536/",
  "https://256.256.256.256/",
  "https://foo.0x1/",
  `https://${"a".repeat(64)}.com/`,
  "https://\ud800.com/",
];

for (const text of REFUSED) {
  test(`${JSON.stringify(text)} is no address of the web`, () => {
    assert.throws(
      () => parseWebAddress(text),
      (fault) => isKernelError(fault) && fault.code === "INVALID_INPUT" && fault.violations[0]?.field === "url",
    );
  });
}

const READ: readonly (readonly [string, string, number])[] = [
  ["http://127.1/", "127.0.0.1", 80],
  ["http://2130706433/", "127.0.0.1", 80],
  ["http://0x7f000001/", "127.0.0.1", 80],
  ["http://0x7f.1/", "127.0.0.1", 80],
  ["http://0177.0.0.1/", "127.0.0.1", 80],
  ["http://127.0.0.1./", "127.0.0.1", 80],
  ["http://0/", "0.0.0.0", 80],
  ["http://①②⑦.0.0.1/", "127.0.0.1", 80],
  ["http://LOCALHOST:8080/", "localhost", 8080],
  ["https://[0:0:0:0:0:0:0:1]/", "::1", 443],
  ["https://[::127.0.0.1]/", "::7f00:1", 443],
  ["https://[64:ff9b::7f00:1]/", "64:ff9b::7f00:1", 443],
  ["https://[2002:7f00:1::]/", "2002:7f00:1::", 443],
  ["https://EXAMPLE.com:443/", "example.com", 443],
  ["https:example.com", "example.com", 443],
  ["https://ｅxample.com/", "example.com", 443],
  ["https://exam\u00adple.com/", "example.com", 443],
  ["https://еxample.com/", "xn--xample-2of.com", 443],
  ["https://xn--xample-2of.com/", "xn--xample-2of.com", 443],
  ["https://allowed.com.evil.org/", "allowed.com.evil.org", 443],
  ["https://evil.org/?@allowed.com", "evil.org", 443],
  ["https://evil.org#@allowed.com/", "evil.org", 443],
  ["https://evil.org/@allowed.com", "evil.org", 443],
];

for (const [text, host, port] of READ) {
  test(`${JSON.stringify(text)} is ${host} at port ${port}, both for policy and in the approval request`, () => {
    const address = parseWebAddress(text);
    assert.deepEqual([address.host, address.port], [host, port]);
    const sent = new URL(address.url);
    assert.equal(sent.hostname.replaceAll(/[[\]]/g, ""), host);
    assert.equal(sent.hash, "");
  });
}

test("rules see the path as it is sent", () => {
  for (const [text, path] of [
    ["https://example.com/public/../secret", "/secret"],
    ["https://example.com/public/%2e%2e/secret", "/secret"],
    ["https://example.com/a%2Fb?c#d", "/a%2Fb"],
  ] as const) {
    assert.equal(parseWebAddress(text).path, path, text);
  }
});
