import assert from "node:assert/strict";
import { test } from "node:test";
import { describeCapability, describeMissing } from "./describe-capability.ts";
import { nearestName } from "./nearest-name.ts";
import { quoteText } from "./quote-text.ts";
import { sameCapability } from "./same-capability.ts";

test("untrusted text cannot break out of its quotation", () => {
  assert.equal(quoteText("a`b\n\u202e\u001b[2J\ud800"), "`a\\u{60}b\\u{a}\\u{202e}\\u{1b}[2J\\u{d800}`");
  assert.equal(quoteText("x".repeat(100)), `\`${"x".repeat(64)}…\``);
  assert.doesNotMatch(describeCapability({ kind: "exec", names: ["a\nb"] }), /\n/);
});

test("a capability is described in a few words", () => {
  assert.equal(describeCapability({ kind: "fs_read", prefixes: ["/src"] }), "fs_read /src");
  assert.equal(describeCapability({ kind: "clock" }), "clock");
  assert.equal(describeCapability({ kind: "artifact", names: [] }), "artifact");
  assert.equal(describeCapability({ kind: "git", names: ["a", "b", "c", "d", "e"] }), "git a, b, c and 2 more");
  assert.equal(
    describeCapability({
      kind: "net_read",
      hosts: [
        { host: "*.a.com", ports: [80, 443] },
        { host: "::1", ports: [1] },
      ],
    }),
    "net_read *.a.com:80,443, [::1]:1",
  );
  assert.equal(describeCapability({ kind: "wasm_exec", maxFuel: 5, maxMemoryBytes: 6 }), "wasm_exec 5 fuel, 6 bytes");
});

test("recognises the same capability in any notation", () => {
  assert.equal(sameCapability({ kind: "fs_read", prefixes: ["/a"] }, { kind: "fs_write", prefixes: ["/a"] }), false);
  assert.equal(sameCapability({ kind: "fs_read", prefixes: [] }, { kind: "fs_read", prefixes: ["*"] }), false);
  assert.equal(sameCapability({ kind: "fs_read", prefixes: ["/a"] }, { kind: "fs_read", prefixes: ["/a/b"] }), false);
  assert.equal(sameCapability({ kind: "fs_read", prefixes: [] }, { kind: "fs_read", prefixes: [] }), true);
  assert.equal(
    sameCapability({ kind: "fs_read", prefixes: ["/b", "/a", "/a/c"] }, { kind: "fs_read", prefixes: ["/a", "/b"] }),
    true,
  );
  assert.equal(sameCapability({ kind: "clock" }, { kind: "clock" }), true);
});

test("suggests the intended name for a misspelt one", () => {
  assert.equal(nearestName("cals", ["calls", "cost_units"]), "calls");
  assert.equal(nearestName("zzzzzzzz", ["calls", "cost_units"]), undefined);
  assert.equal(nearestName("c".repeat(1_000_000), ["calls"]), undefined);
});

test("names a missing capability once, and the specific one rather than its kind", () => {
  const some = { kind: "net_read", hosts: [] } as const;
  const certain = { kind: "net_read", hosts: [{ host: "example.com", ports: [443] }] } as const;
  assert.deepEqual(describeMissing([some, certain, certain]), ["net_read example.com:443"]);
  assert.deepEqual(describeMissing([some, { kind: "clock" }]), ["net_read", "clock"]);
});
