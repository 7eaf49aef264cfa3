import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { AdminService, KernelService } from "@narthex/contracts";
import { ADMIN, bearer, collect, grpc, openDoor, put, READ } from "./test-door.ts";

test("missing, wrong and differently scoped bearer tokens get no access", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const transport = grpc(t, baseUrl);
  const admin = createClient(AdminService, transport);
  const client = createClient(KernelService, transport);
  const refused: readonly (readonly [string, Promise<unknown>, Code])[] = [
    ["no token", admin.listSessions({}), Code.Unauthenticated],
    ["wrong token", admin.listSessions({}, bearer("wrong")), Code.Unauthenticated],
    ["session token for admin", admin.listSessions({}, bearer(kernel.token)), Code.PermissionDenied],
    ["approve token for reading", admin.listSessions({}, bearer("approve-token")), Code.PermissionDenied],
    ["read token for opening", admin.openSession({ workspace: "/w" }, bearer(READ)), Code.PermissionDenied],
    ["read token for closing", admin.closeSession({}, bearer(READ)), Code.PermissionDenied],
    ["read token for settling", admin.settleIntent({ answer: "happened" }, bearer(READ)), Code.PermissionDenied],
    [
      "read token for clearing",
      admin.clearWorkspaceLabels({ workspace: "/w", by: "a" }, bearer(READ)),
      Code.PermissionDenied,
    ],
    ["read token for erasing", admin.eraseContent({ reason: "r", by: "a" }, bearer(READ)), Code.PermissionDenied],
    ["approve token for erasing", admin.eraseContent({}, bearer("approve-token")), Code.PermissionDenied],
    ["session token for erasing", admin.eraseContent({}, bearer(kernel.token)), Code.PermissionDenied],
    ["read token for collecting", admin.collectContent({}, bearer(READ)), Code.PermissionDenied],
    ["releasing as admin", client.releaseLease({ leaseId: "lea" }, bearer(ADMIN)), Code.PermissionDenied],
    ["tools without token", client.listTools({}), Code.Unauthenticated],
    ["tools with read token", client.listTools({}, bearer(READ)), Code.PermissionDenied],
    ["content without token", collect(client.getContent({ hash: new Uint8Array(32) })), Code.Unauthenticated],
    ["putting content as admin", client.putContent((async function* () {})(), bearer(ADMIN)), Code.PermissionDenied],
    [
      "a token that looks like a session's",
      client.listTools({}, bearer(`${kernel.token.slice(0, -1)}x`)),
      Code.Unauthenticated,
    ],
  ];
  for (const [what, call, code] of refused) {
    await assert.rejects(call, (error) => error instanceof ConnectError && error.code === code, what);
  }
  assert.ok(kernel.refusals.every((refusal) => refusal.door === "grpc"));
  assert.equal(kernel.refusals.length, refused.length);
});

test("an admin token lists tools and reads any content", async (t) => {
  const { kernel, baseUrl } = await openDoor(t);
  const client = createClient(KernelService, grpc(t, baseUrl));
  assert.equal((await client.listTools({}, bearer(ADMIN))).tools.length, 1);
  const { hash } = await put(client, kernel, Buffer.from("content"));
  assert.equal((await collect(client.getContent({ hash }, bearer(ADMIN)))).length, 2);
});
