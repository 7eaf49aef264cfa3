import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { requestHeaders } from "./request-headers.ts";

function problems(...headers: Parameters<typeof requestHeaders>[0]): readonly string[] {
  try {
    requestHeaders(headers);
    return [];
  } catch (fault) {
    if (!isKernelError(fault) || fault.code !== "INVALID_INPUT") throw fault;
    return fault.violations.map(({ field, message }) => `${field} ${message}`);
  }
}

const OWN =
  "host content-length transfer-encoding connection upgrade proxy-authorization proxy-connection te trailer expect " +
  "x-unix-socket keep-alive http2-settings x-http-method-override x-http-method x-method-override";

for (const name of OWN.split(" ")) {
  test(`rejects ${name}, which only the gate sets`, () => {
    for (const spelled of [name, name.toUpperCase()]) {
      assert.deepEqual(problems(`${spelled}: x`), [`headers[0] \`${name}\` cannot be set`]);
      assert.deepEqual(problems({ name: spelled, value: { $secret: "s" } }), [`headers[0] \`${name}\` cannot be set`]);
    }
  });
}

test("no header ends early, begins another, or has no name", () => {
  for (const header of [
    "x: a\r\nHost: evil.org",
    "x: a\nHost: evil.org",
    "x: a\rb",
    "x: a\0b",
    "x\r\nHost: evil.org",
    "x: a\u0085b",
    "x: é",
    "x: \ud800",
    " x: a",
    "x : a",
    ": a",
    "x",
    "",
    ":path: /",
    "x y: a",
    "é: a",
  ]) {
    assert.equal(problems(header).length, 1, JSON.stringify(header));
  }
  assert.equal(problems({ name: "x", value: { $secret: "s" }, prefix: "a\r\nHost: evil.org " }).length, 1);
  assert.equal(problems({ name: "x\r\ny", value: { $secret: "s" } }).length, 1);
});

test("all that is wrong is said at once, and where", () => {
  assert.deepEqual(
    problems("Host: a", "accept: text/plain", "x: a\nb").map((problem) => problem.split(" ")[0]),
    ["headers[0]", "headers[2]"],
  );
});

test("headers are bounded, one and all together", () => {
  assert.equal(problems(`x: ${"a".repeat(8193)}`).length, 1);
  assert.equal(problems(`${"a".repeat(257)}: x`).length, 1);
  assert.deepEqual(
    problems(...Array.from({ length: 9 }, () => `x: ${"a".repeat(8192)}`)).map((problem) => problem.split(" ")[0]),
    ["headers"],
  );
});

test("a secret is handed on by its name alone", () => {
  assert.deepEqual(
    requestHeaders([
      "Accept:text/plain \t",
      "x-many: a",
      "x-many: b:c",
      "x-empty:",
      { name: "Authorization", value: { $secret: "github" }, prefix: "Bearer " },
      { name: "x-key", value: { $secret: "other" } },
    ]),
    [
      ["Accept", "text/plain"],
      ["x-many", "a"],
      ["x-many", "b:c"],
      ["x-empty", ""],
      ["Authorization", { secret: "github", prefix: "Bearer " }],
      ["x-key", { secret: "other" }],
    ],
  );
});
