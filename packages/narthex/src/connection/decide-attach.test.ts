import assert from "node:assert/strict";
import { test } from "node:test";
import { compareVersions, decideAttach } from "./decide-attach.ts";

const holder = { pid: 1, command: "serve", version: "1.2.0", protocol: 3, onDemand: false, startedAtMs: 0 };

test("orders versions by their numbers, with a pre-release below its release", () => {
  const ordered = ["", "0.1.0", "0.2.0-alpha", "0.2.0-beta", "0.2.0", "0.10.0", "1.0.0"];
  for (const [i, first] of ordered.entries()) {
    for (const [j, second] of ordered.entries()) {
      assert.equal(Math.sign(compareVersions(first, second)), Math.sign(i - j), `${first} and ${second}`);
    }
  }
  assert.equal(compareVersions("1.2", "1.2.0"), 0);
});

test("connects to a kernel of the same protocol, whatever its version", () => {
  for (const version of ["1.1.9", "1.2.0", "1.3.0"]) {
    assert.equal(decideAttach(holder, { version, protocol: 3 }), "attach", version);
  }
  assert.equal(decideAttach({ ...holder, onDemand: true }, { version: "1.1.9", protocol: 3 }), "attach");
});

test("rejects a kernel of another protocol, unless it was started on demand and is older", () => {
  for (const version of ["1.1.9", "1.2.0", "1.3.0"]) {
    assert.equal(decideAttach(holder, { version, protocol: 4 }), "refuse", version);
  }
  const onDemand = { ...holder, onDemand: true };
  assert.equal(decideAttach(onDemand, { version: "1.1.9", protocol: 2 }), "refuse");
  assert.equal(decideAttach(onDemand, { version: "1.3.0", protocol: 4 }), "replace");
});

test("replaces a kernel that was started on demand by a higher version only", () => {
  const onDemand = { ...holder, onDemand: true };
  assert.equal(decideAttach(onDemand, { version: "1.2.0", protocol: 3 }), "attach");
  assert.equal(decideAttach(onDemand, { version: "1.2.1", protocol: 3 }), "replace");
});
