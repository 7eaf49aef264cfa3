import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "@connectrpc/connect";
import { AdminService, toHex } from "@narthex/contracts";
import { toKernelError } from "./connect-error.ts";
import { ADMIN, bearer, grpc, openDoor, READ } from "./test-door.ts";

test("only an administrator reloads the policy, and a session cannot read it", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const client = createClient(AdminService, grpc(t, baseUrl));
  for (const token of [READ, kernel.token, "nobody"])
    await assert.rejects(client.reloadPolicy({ by: "eve" }, bearer(token)));
  for (const token of [kernel.token, "nobody"]) await assert.rejects(client.getPolicy({}, bearer(token)));
});

test("rejects an invalid policy with every problem and its place", async (t) => {
  const { baseUrl } = await openDoor(t);
  const client = createClient(AdminService, grpc(t, baseUrl));
  await assert.rejects(client.reloadPolicy({ by: "" }, bearer(ADMIN)), (error: unknown) => {
    const { code, violations } = toKernelError(error);
    assert.equal(code, "POLICY_INVALID");
    assert.deepEqual(
      violations.map(({ field, rule, message }) => [field, rule, message]),
      [["p.cedar:1:2", "malformed", "unexpected token"]],
    );
    return true;
  });
});

test("shows the policy in force, and after a reload whether it changed", async (t) => {
  const { baseUrl } = await openDoor(t);
  const client = createClient(AdminService, grpc(t, baseUrl));
  const { policy } = await client.getPolicy({}, bearer(READ));
  assert.equal(toHex(policy?.policyHash ?? new Uint8Array()), "01".repeat(32));
  assert.equal(toHex(policy?.schemaHash ?? new Uint8Array()), "02".repeat(32));
  assert.equal(policy?.ruleCount, 3n);
  assert.deepEqual([policy?.engine, policy?.mode, policy?.directory], ["test/1", "enforce", "/policy"]);
  const reloaded = await client.reloadPolicy({ by: "ada" }, bearer(ADMIN));
  assert.equal(reloaded.changed, true);
  assert.deepEqual(reloaded.policy, policy);
});
