import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenSessionOptions } from "./session.ts";
import { validateOpenOptions } from "./validate-open-options.ts";

function problemsOf(options: Partial<OpenSessionOptions>): string[] {
  return validateOpenOptions({ workspace: "/project", ...options }).map(({ field, rule }) => `${field} ${rule}`);
}

test("names every problem at once", () => {
  assert.deepEqual(
    problemsOf({
      workspace: "work",
      workingDirectory: "/project/../etc",
      tenant: "",
      user: "x".repeat(257),
      agent: "a\u001b[2J",
      seed: new Uint8Array(31),
      ttlMs: 0,
    }),
    [
      "workspace format",
      "working_directory format",
      "tenant required",
      "user max_length",
      "agent format",
      "seed exact_length",
      "ttl_ms range",
    ],
  );
});

test("requires a workspace that is an absolute, normalised path below the root", () => {
  for (const workspace of [
    "",
    "/",
    "work",
    "/project/",
    "/project//x",
    "/project/./x",
    "/wo\0rk",
    "/wo\nrk",
    `/${"x".repeat(5000)}`,
  ]) {
    assert.equal(problemsOf({ workspace }).length, 1, JSON.stringify(workspace));
  }
});

test("requires a working directory inside the workspace", () => {
  assert.deepEqual(problemsOf({ workingDirectory: "/workshop" }), ["working_directory no_traversal"]);
  assert.deepEqual(problemsOf({ workingDirectory: "/project" }), []);
  assert.deepEqual(problemsOf({ workingDirectory: "/project/src" }), []);
});

test("requires whole times to live of at most a year", () => {
  for (const ttlMs of [-1, 0.5, Number.NaN, 366 * 24 * 3_600_000]) {
    assert.deepEqual(problemsOf({ ttlMs }), ["ttl_ms range"]);
  }
  assert.deepEqual(problemsOf({ ttlMs: 1 }), []);
});

test("counts the characters of names, not code units", () => {
  assert.deepEqual(problemsOf({ agent: "🤖".repeat(256), seed: new Uint8Array(32) }), []);
  assert.deepEqual(problemsOf({ agent: "🤖".repeat(257) }), ["agent max_length"]);
});
