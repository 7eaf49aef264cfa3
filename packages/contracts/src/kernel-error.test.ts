import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, KernelError } from "./kernel-error.ts";

test("only a kernel error is one", () => {
  assert.equal(isKernelError(new Error("no")), false);
  assert.equal(isKernelError({ code: "INTERNAL", message: "no" }), false);
  assert.equal(isKernelError(undefined), false);
  assert.equal(isKernelError(new KernelError("INTERNAL", "yes")), true);
});

test("one of another copy of the module is one too, if its code is known here", async () => {
  const url = new URL("./kernel-error.ts?copy", import.meta.url);
  const copy = (await import(url.href)) as { readonly KernelError: typeof KernelError };
  const theirs = new copy.KernelError("TIMEOUT", "too slow");
  assert.equal(theirs instanceof KernelError, false);
  assert.equal(isKernelError(theirs), true);
  assert.equal(isKernelError(Object.assign(theirs, { code: "NO_SUCH_CODE" })), false);
  assert.equal(isKernelError(Object.assign(new copy.KernelError("TIMEOUT", ""), { violations: "none" })), false);
});

test("an error takes from the table whether it is retryable", () => {
  assert.equal(new KernelError("TIMEOUT", "too slow").retryable, false);
  assert.equal(new KernelError("RATE_LIMITED", "too fast", { retryAfterMs: 250 }).retryable, true);
});

test("an error carries its code, violations, waiting time and cause", () => {
  const cause = new Error("disk");
  const violations = [{ field: "path", rule: "required", message: "must not be empty" }];
  const error = new KernelError("INVALID_INPUT", "the input is invalid", { cause, violations, retryAfterMs: 5 });
  assert.deepEqual(
    [error.name, error.code, error.message, error.cause, error.violations, error.retryAfterMs],
    ["KernelError", "INVALID_INPUT", "the input is invalid", cause, violations, 5],
  );
});

test("an error without options has none of them", () => {
  const error = new KernelError("INTERNAL", "a fault");
  assert.deepEqual([error.violations, error.retryAfterMs, Object.hasOwn(error, "cause")], [[], 0, false]);
});
