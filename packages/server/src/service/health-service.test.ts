import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "@narthex/contracts/health";
import { grpc, nextOf, openDoor } from "./test-door.ts";

test("reports a missing service as not found, to checks and watches", async (t) => {
  const { baseUrl } = await openDoor(t);
  const health = createClient(Health, grpc(t, baseUrl));
  const service = "narthex.v1.Nothing";
  await assert.rejects(
    health.check({ service }),
    (error) => error instanceof ConnectError && error.code === Code.NotFound,
  );
  const watch = health.watch({ service })[Symbol.asyncIterator]();
  assert.equal((await nextOf(watch)).status, Status.SERVICE_UNKNOWN);
});

test("lists all services by name", async (t) => {
  const { baseUrl } = await openDoor(t);
  const health = createClient(Health, grpc(t, baseUrl));
  const services = ["", "narthex.v1.KernelService", "narthex.v1.AdminService"];
  for (const service of services) assert.equal((await health.check({ service })).status, Status.SERVING);
  assert.deepEqual(Object.keys((await health.list({})).statuses).sort(), [...services].sort());
});
