import assert from "node:assert/strict";
import { test } from "node:test";
import type { Capability } from "../capability/capability.ts";
import { scopesOf, targetsOf } from "./policy-target.ts";

const FILES: readonly Capability[] = [{ kind: "fs_write", prefixes: [] }];
const targets = (needed: readonly Capability[], capabilities = FILES) =>
  targetsOf({ capabilities }, ["fs_write"], needed, "/projects/one");

test("each path is a target of its own, and one that is read and written counts as written", () => {
  const needed: Capability[] = [
    { kind: "fs_read", prefixes: ["/projects/one/a", "/projects/one/b"] },
    { kind: "fs_write", prefixes: ["/projects/one/b"] },
  ];
  assert.deepEqual(targets(needed), [
    { path: "a", writes: false },
    { path: "b", writes: true },
  ]);
});

test("a path outside the workspace keeps its full name, also one with the same prefix", () => {
  const needed: Capability[] = [{ kind: "fs_read", prefixes: ["/projects/one2/a", "/projects/one"] }];
  assert.deepEqual(targets(needed), [
    { path: "/projects/one2/a", writes: false },
    { path: ".", writes: false },
  ]);
});

test("a tool for files that names none targets the whole workspace", () => {
  assert.deepEqual(targets([]), [{ path: ".", writes: true }]);
});

test("a tool that declares no files has no path target", () => {
  assert.deepEqual(targets([], []), [{}]);
});

test("each host and port is a target of its own, at each path; every port is 0", () => {
  const needed: Capability[] = [
    { kind: "fs_read", prefixes: ["/projects/one/a"] },
    { kind: "net_read", hosts: [{ host: "a.example", ports: [80, 443] }] },
    { kind: "net_write", hosts: [{ host: "b.example" }] },
  ];
  assert.deepEqual(targets(needed), [
    { path: "a", writes: false, host: "a.example", port: 80, sends: false },
    { path: "a", writes: false, host: "a.example", port: 443, sends: false },
    { path: "a", writes: false, host: "b.example", port: 0, sends: true },
  ]);
});

test("programs and tables are sets, present only for tools that declare them", () => {
  const needed: Capability[] = [
    { kind: "exec", names: ["npm", "git", "npm"] },
    { kind: "db_read", names: ["b"] },
    { kind: "db_write", names: ["a"] },
  ];
  assert.deepEqual(scopesOf({ capabilities: [{ kind: "exec", names: [] }] }, needed), { programs: ["git", "npm"] });
  assert.deepEqual(scopesOf({ capabilities: [{ kind: "db_write", names: [] }] }, needed), { tables: ["a", "b"] });
  assert.deepEqual(scopesOf({ capabilities: [] }, needed), {});
});
