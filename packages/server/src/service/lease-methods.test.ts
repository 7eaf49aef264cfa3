import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { AdminService, KernelService, ToolErrorSchema } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { createTestKernel, echoTool } from "@narthex/testkit";
import { ADMIN, bearer, collect, openDoor, READ, TRANSPORTS } from "./test-door.ts";

const writing = defineTool({
  name: "write_there",
  description: "Writes in the workspace.",
  inputSchema: true,
  effects: ["fs_write"],
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  run: () => null,
});

/** A kernel as it is, behind a door. */
async function serve(t: TestContext) {
  const at = await createTestKernel({ tools: [echoTool, writing] });
  t.after(() => at.kernel.close());
  return { ...at, ...(await openDoor(t, { kernel: at.kernel })), kernel: at.kernel };
}

/** The kernel's own code, where it gave one; else the protocol's. And what it said. */
async function refusal(attempt: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await attempt;
  } catch (fault) {
    const error = ConnectError.from(fault);
    const detail = error.findDetails(ToolErrorSchema)[0];
    return [detail?.errorCode ?? Code[error.code] ?? "", error.rawMessage];
  }
  return ["granted", ""];
}

const codeOf = async (attempt: Promise<unknown>) => (await refusal(attempt))[0];

async function put(client: ReturnType<typeof clientsOf>["kernel"], token: string, text: string, labels: string[] = []) {
  async function* parts() {
    yield { part: { case: "header" as const, value: { labels } } };
    yield { part: { case: "chunk" as const, value: Buffer.from(text) } };
  }
  return (await client.putContent(parts(), bearer(token))).hash;
}

const clientsOf = (transport: Transport) => ({
  kernel: createClient(KernelService, transport),
  admin: createClient(AdminService, transport),
});

const HOSTILE: readonly (readonly string[])[] = [
  ["a\u0000b"],
  ["\u001b[2J"],
  ["a\nb"],
  ["Secret"],
  [""],
  ["x".repeat(10_240)],
  Array.from({ length: 65 }, (_, index) => `label-${index}`),
];

for (const [name, transportTo] of TRANSPORTS.filter(([known]) =>
  /^(?:gRPC|connect JSON over HTTP\/1\.1)$/.test(known),
)) {
  test(`only the parent session releases a lease, by ${name}`, async (t) => {
    const { open, baseUrl } = await serve(t);
    const { kernel, admin } = clientsOf(transportTo(t, baseUrl));
    const root = await open({ lease: { budgets: { calls: 10 } } });
    const stranger = await open();
    const child = await kernel.delegateLease({ lease: '{"budgets":{"calls":4}}' }, bearer(root.token));
    const below = await kernel.delegateLease({ lease: '{"budgets":{"calls":1}}' }, bearer(child.token));
    const strangerLease = (await admin.getSession({ sessionId: stranger.id }, bearer(ADMIN))).session?.leaseId;
    const release = (leaseId: string, token: string) => kernel.releaseLease({ leaseId }, bearer(token));

    for (const [token, code] of [
      ["", "TOKEN_INVALID"],
      ["wrong", "TOKEN_INVALID"],
      [ADMIN, "PermissionDenied"],
      [READ, "PermissionDenied"],
      [`${root.token.slice(0, -1)}_`, "SESSION_UNKNOWN"],
    ] as const) {
      assert.equal(await codeOf(release(child.leaseId, token)), code, token);
    }
    const unknown = "lea_aaaaaaaaaaaaaaaaaaaa";
    const [code, message] = await refusal(release(unknown, stranger.token));
    assert.equal(code, "LEASE_NOT_FOUND");
    for (const leaseId of [child.leaseId, below.leaseId]) {
      const [foreign, said] = await refusal(release(leaseId, stranger.token));
      assert.deepEqual([foreign, said.replace(leaseId, unknown)], [code, message]);
    }
    assert.equal(await codeOf(release(child.leaseId, below.token)), "LEASE_NOT_FOUND");
    assert.equal(await codeOf(release(strangerLease ?? "", root.token)), "LEASE_NOT_FOUND");
    assert.equal(await codeOf(release(child.leaseId, child.token)), "INVALID_INPUT");
    for (const odd of ["", "../x", "\u0000", "x".repeat(100_000), `${child.leaseId}/${below.leaseId}`]) {
      assert.equal(await codeOf(release(odd, root.token)), "LEASE_NOT_FOUND");
    }

    assert.equal((await release(child.leaseId, root.token)).budgetReturned, '{"calls":4}');
    assert.equal(await codeOf(release(child.leaseId, root.token)), "LEASE_NOT_FOUND");
    assert.equal(await codeOf(release(below.leaseId, root.token)), "LEASE_NOT_FOUND");
    assert.equal(await codeOf(release(below.leaseId, child.token)), "SESSION_CLOSED");
    const { session } = await admin.getSession({ sessionId: root.id }, bearer(ADMIN));
    assert.equal(session?.budgetRemaining, '{"calls":10}');
  });

  test(`a child is granted only content that its parent may name, by ${name}`, async (t) => {
    const { open, baseUrl, kernel: inside } = await serve(t);
    const { kernel, admin } = clientsOf(transportTo(t, baseUrl));
    const parent = await open();
    const hash = await put(kernel, parent.token, "for the child", ["secret"]);
    const foreign = await put(kernel, (await open()).token, "a stranger's");
    const delegate = (more: object, token = parent.token) => kernel.delegateLease(more, bearer(token));
    const before = inside.recordCount();
    for (const [contentHashes, code] of [
      [[foreign], "CONTENT_NOT_FOUND"],
      [[hash, foreign], "CONTENT_NOT_FOUND"],
      [[new Uint8Array(32)], "CONTENT_NOT_FOUND"],
      [[new Uint8Array(31)], "INVALID_INPUT"],
      [[new Uint8Array()], "INVALID_INPUT"],
      [Array.from({ length: 101 }, () => hash), "INVALID_INPUT"],
    ] as const) {
      assert.equal(await codeOf(delegate({ contentHashes: [...contentHashes] })), code);
    }
    for (const labels of HOSTILE) {
      assert.equal(await codeOf(delegate({ labels })), "INVALID_INPUT");
      assert.equal(
        await codeOf(admin.openSession({ workspace: "/w", labels: [...labels] }, bearer(ADMIN))),
        "INVALID_INPUT",
      );
    }
    assert.equal(inside.recordCount(), before);

    const child = await delegate({ contentHashes: [hash], labels: ["own"] });
    const [first] = await collect(kernel.getContent({ hash }, bearer(child.token)));
    assert.deepEqual(first?.part.case === "info" && first.part.value.labels, ["secret"]);
    const { session } = await admin.getSession({ sessionId: child.sessionId }, bearer(ADMIN));
    assert.deepEqual(session?.labels, ["own", "secret"]);
    const sibling = await delegate({});
    assert.equal(await codeOf(collect(kernel.getContent({ hash }, bearer(sibling.token)))), "CONTENT_NOT_FOUND");
  });

  test(`an administrator opens labelled sessions, and lists and clears a workspace's labels, by ${name}`, async (t) => {
    const { open, baseUrl, records } = await serve(t);
    const { kernel, admin } = clientsOf(transportTo(t, baseUrl));
    const own = {
      workspace: "/own",
      labels: ["secret"],
      lease: '{"capabilities":[{"kind":"fs_write","prefixes":["/own"]}]}',
    };
    const { session, token } = await admin.openSession(own, bearer(ADMIN));
    assert.deepEqual(session?.labels, ["secret"]);
    const parentSessionId = session?.sessionId ?? "";
    const below = await admin.openSession({ parentSessionId, labels: ["more"] }, bearer(ADMIN));
    assert.deepEqual(below.session?.labels, ["more", "secret"]);
    const written = await kernel.call({
      requestId: "1",
      sessionToken: token,
      tool: { case: "call", value: { name: "write_there", input: Buffer.from("{}") } },
    });
    assert.equal(written.result.case, "success");

    const show = (workspace: string, bearing: string) => admin.getWorkspaceLabels({ workspace }, bearer(bearing));
    const clear = (workspace: string, by: string, bearing: string) =>
      admin.clearWorkspaceLabels({ workspace, by }, bearer(bearing));
    const agent = await open();
    for (const bearing of ["", "wrong"]) assert.equal(await codeOf(clear("/own", "ann", bearing)), "TOKEN_INVALID");
    for (const bearing of [READ, "approve-token", agent.token, token]) {
      assert.equal(await codeOf(clear("/own", "ann", bearing)), "PermissionDenied");
    }
    for (const bearing of ["approve-token", agent.token]) {
      assert.equal(await codeOf(show("/own", bearing)), "PermissionDenied");
    }
    for (const wrong of ["", "own", "/own/..", "/own/", "/own\u0000", "/own\n"]) {
      assert.equal(await codeOf(show(wrong, ADMIN)), "INVALID_INPUT");
      assert.equal(await codeOf(clear(wrong, "ann", ADMIN)), "INVALID_INPUT");
    }
    assert.equal(await codeOf(clear("/own", "", ADMIN)), "INVALID_INPUT");
    assert.equal(await codeOf(clear("/other", "ann", ADMIN)), "WORKSPACE_REFUSED");
    assert.equal(await codeOf(clear("/own/inside", "ann", ADMIN)), "WORKSPACE_REFUSED");
    assert.deepEqual((await show("/own/inside", READ)).labels, ["secret"]);
    assert.deepEqual((await show("/other", READ)).labels, []);

    assert.deepEqual((await clear("/own", "ann", ADMIN)).labels, ["secret"]);
    assert.deepEqual((await show("/own", READ)).labels, []);
    const entries = (await records("system")).flatMap((record) => record.entries);
    const cleared = entries.flatMap(({ kind }) => (kind.case === "workspaceLabelled" ? [kind.value] : []));
    assert.deepEqual(
      cleared.map(({ workspace, labels, by }) => [workspace, labels, by]),
      [["/own", [], "ann"]],
    );
    assert.equal(await codeOf(clear("/own", "ann", ADMIN)), "WORKSPACE_REFUSED");
  });
}
