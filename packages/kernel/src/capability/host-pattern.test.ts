import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { canonicalHost } from "./host-pattern.ts";
import { canonicalIpv6 } from "./ip-address.ts";

test("rejects unusual spellings of hosts and addresses", () => {
  const refused = [
    "",
    ".",
    "*.",
    "**",
    "*a.com",
    "a.*.com",
    "*.*.com",
    "a..com",
    ".a.com",
    "a.com.",
    "-a.com",
    "a-.com",
    "a b.com",
    "a.com:443",
    "http://a.com",
    "user@a.com",
    "a.com/x",
    "a\\b.com",
    "a\0.com",
    "a\n.com",
    "bücher.de",
    "аpple.com",
    "\u212a.com",
    "a。com",
    `${"a".repeat(64)}.com`,
    `${"a.".repeat(127)}com`,
    "0",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.1.",
    "127.0.0.256",
    "1.2.3",
    "*.0.0.1",
    "*.1",
    "a.1",
    "a.0x",
    "[::1]",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "fe80::1%eth0",
    "1::2::3",
    ":::",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8",
    "12345::",
    "*::1",
  ];
  for (const text of refused) assert.equal(canonicalHost(text), undefined, JSON.stringify(text));
});

test("names and addresses have one canonical spelling", () => {
  const accepted: [given: string, canonical: string][] = [
    ["*", "*"],
    ["localhost", "localhost"],
    ["A.Example.COM", "a.example.com"],
    ["*.Example.com", "*.example.com"],
    ["xn--bcher-kva.de", "xn--bcher-kva.de"],
    ["a_b.example.com", "a_b.example.com"],
    ["1a.com", "1a.com"],
    ["10.0.0.255", "10.0.0.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["0:0:0:0:0:0:0:1", "::1"],
    ["2001:DB8::0001", "2001:db8::1"],
    ["2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["1:2:3:4:5:6::", "1:2:3:4:5:6::"],
    ["fd00:ec2::254", "fd00:ec2::254"],
  ];
  for (const [given, canonical] of accepted) assert.equal(canonicalHost(given), canonical);
});

test("canonicalising is idempotent", () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const canonical = canonicalIpv6(groups.map((value) => value.toString(16)).join(":"));
      const isMapped = groups.slice(0, 5).every((value) => value === 0) && groups[5] === 0xffff;
      assert.equal(canonical === undefined, isMapped);
      if (canonical !== undefined) assert.equal(canonicalIpv6(canonical), canonical);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.domain(), fc.ipV4(), fc.ipV6()), (text) => {
      const canonical = canonicalHost(text);
      if (canonical !== undefined) assert.equal(canonicalHost(canonical), canonical);
    }),
  );
});
