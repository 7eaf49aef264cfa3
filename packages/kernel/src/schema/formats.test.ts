import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FORMATS } from "./formats.ts";

const CASES: readonly [string, readonly string[], readonly string[]][] = [
  [
    "date-time",
    ["2026-11-15T20:11:00Z", "1998-12-31T23:59:60Z", "1998-12-31t15:59:60.123-08:00", "2024-02-29T00:00:00+23:59"],
    ["2026-11-15", "2026-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2026-11-15T24:00:00Z", "2026-11-15T20:11:60Z", "x"],
  ],
  ["date", ["2000-02-29", "9999-12-31"], ["1900-02-29", "2026-00-01", "2026-1-1", "२०२६-01-01", "2026-01-01 "]],
  ["time", ["23:59:59Z", "00:00:00.5+01:00"], ["23:59:59", "25:00:00Z", "12:00Z", "12:00:00 PST"]],
  ["duration", ["P1Y2M3D", "PT1H", "P4W", "P1DT12H"], ["", "P", "PT", "P1D2H", "1Y", "P1Y2W"]],
  [
    "email",
    ["a@example.com", "a.b+c@example.co", "a@[127.0.0.1]"],
    ["a", "@b", "a@", ".a@b.c", "a..b@c.d", "a b@c.d", "a@b@c d"],
  ],
  [
    "hostname",
    ["a", "example.com", "a-b.c"],
    ["", "-a.com", "a-.com", "a_b.com", "a..b", ".a", `${"a".repeat(64)}.com`],
  ],
  ["ipv4", ["127.0.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "0x7f.0.0.1", "127.1"]],
  [
    "ipv6",
    ["::", "::1", "fe80::1", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"],
    [":", ":::", "1::2::3", "12345::", "::1%eth0", "1:2:3:4:5:6:7:8:9"],
  ],
  [
    "uri",
    ["https://example.com/a?b#c", "urn:x:y", "ldap://[2001:db8::7]/c"],
    ["/a", "a b:c", "http://a b", "http://[::1", "http://a@b@c/"],
  ],
  ["uri-reference", ["/a/b", "a", "//host", "#frag"], ["\\\\host", "a b", "%zz", "1:b"]],
  [
    "uuid",
    ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"],
    ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638"],
  ],
  ["json-pointer", ["", "/a/b~0~1", "/"], ["a", "/a~", "/~2", "#/a"]],
  ["key-value", ["a=b", "=", "a="], ["", "a", "a=b=c", `k=${"x".repeat(32 * 1024)}`, `k=${"é".repeat(17_000)}`]],
];

describe("formats", () => {
  for (const [name, valid, invalid] of CASES) {
    it(`${name} is checked`, () => {
      const test = FORMATS.get(name);
      assert.ok(test !== undefined);
      for (const text of invalid) assert.equal(test(text), false, text.slice(0, 60));
      for (const text of valid) assert.equal(test(text), true, text);
    });
  }

  it("are all covered here", () => {
    assert.deepEqual(
      [...FORMATS.keys()],
      CASES.map(([name]) => name),
    );
  });
});
