import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { parseConfiguration } from "./parse-configuration.ts";

test("a secret is named with the one place where it is found", () => {
  const { secrets } = parseConfiguration(
    "secrets:\n  one: { env: KEY_1 }\n  two: { file: /run/secrets/two }\n  three:\n    command: [pass, show, x y]\n",
    "x",
  );
  assert.deepEqual(Object.fromEntries(secrets), {
    one: { env: "KEY_1" },
    two: { file: "/run/secrets/two" },
    three: { command: ["pass", "show", "x y"] },
  });
});

test("anything else is refused by its line, and what was written there instead of a place is not repeated", () => {
  const text = [
    "secrets:",
    "  plain: hunter2-hunter2",
    "  Upper: { env: A }",
    "  both: { env: A, file: /a }",
    "  none: {}",
    "  relative: { file: hunter2-hunter2 }",
    "  variable: { env: hunter2-hunter2 }",
    "  words: { command: hunter2-hunter2 }",
    "  empty: { command: [] }",
    "  twice: { env: A }",
    "  twice: { env: B }",
  ].join("\n");
  try {
    parseConfiguration(text, "x");
    assert.fail("it was taken");
  } catch (fault) {
    assert.ok(isKernelError(fault));
    assert.equal(fault.code, "CONFIG_INVALID");
    assert.doesNotMatch(JSON.stringify([fault.message, fault.violations]), /hunter2/);
    const lines = fault.violations.map(({ message }) => Number(/^line (\d+)/.exec(message)?.[1]));
    assert.deepEqual(lines, [2, 3, 4, 5, 6, 7, 8, 9, 11]);
  }
});
