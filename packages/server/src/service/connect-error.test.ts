import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { ERROR_CODES, HOST_CODES, KernelError, RATIONALE_CODES, REGISTRATION_CODES } from "@narthex/contracts";
import { toConnectCode, toConnectError, toKernelError } from "./connect-error.ts";

test("hides the details of an unexpected fault", () => {
  const error = toConnectError(new Error("password=hunter2"));
  assert.equal(error.code, Code.Internal);
  assert.equal(error.rawMessage, "internal error");
  assert.equal(error.details.length, 0);
});

test("maps every code of the kernel to a gRPC code", () => {
  const codes = [...ERROR_CODES.keys(), ...RATIONALE_CODES.keys(), ...REGISTRATION_CODES.keys(), ...HOST_CODES.keys()];
  assert.ok(codes.length > 60);
  for (const code of codes) assert.ok(toConnectCode(code) >= Code.Canceled, code);
});

test("restores a fault from the wire, with its violations", () => {
  const violations = [{ field: "hash", rule: "exact_length", message: "too short" }];
  const fault = new KernelError("RATE_LIMITED", "wait a little", { violations, retryAfterMs: 50 });
  const back = toKernelError(toConnectError(fault));
  assert.equal(back.code, "RATE_LIMITED");
  assert.equal(back.message, "wait a little");
  assert.equal(back.retryAfterMs, 50);
  assert.deepEqual(
    back.violations.map(({ field, rule, message }) => ({ field, rule, message })),
    violations,
  );
});

test("maps errors of the transport to the nearest code", () => {
  assert.equal(toKernelError(new ConnectError("down", Code.Unavailable)).code, "KERNEL_UNREACHABLE");
  assert.equal(toKernelError(new ConnectError("odd", Code.Unknown)).code, "INTERNAL");
});
