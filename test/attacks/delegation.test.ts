import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { AdminService, create, KernelService, ToolErrorSchema, ToolRequestSchema } from "@narthex/contracts";
import { createTestHome, ended, type Serving, type TestHome } from "../cli/home.ts";
import { codeOf } from "./served-kernel.ts";

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

/** The kernel's own code, where it gave one; else the protocol's. */
async function refusal(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (fault) {
    const error = ConnectError.from(fault);
    return error.findDetails(ToolErrorSchema)[0]?.errorCode ?? Code[error.code] ?? "";
  }
  return "granted";
}

/** A served kernel as an agent and its administrator reach it. */
async function reach(home: TestHome, serving: Serving, transportTo: (baseUrl: string) => Transport) {
  const transport = transportTo(String(serving.ready["listen"]));
  const adminToken = (await readFile(join(home.home, "run", "admin.token"), "utf8")).trim();
  const kernel = createClient(KernelService, transport);
  const admin = createClient(AdminService, transport);
  let calls = 0;
  return {
    kernel,
    admin,
    adminToken,
    delegate: (token: string, lease: object | string = {}, more: object = {}) =>
      kernel.delegateLease(
        { lease: typeof lease === "string" ? lease : JSON.stringify(lease), ...more },
        bearer(token),
      ),
    call: (token: string, tool: string, input: unknown) =>
      kernel.call(
        create(ToolRequestSchema, {
          requestId: `request ${++calls}`,
          sessionToken: token,
          tool: { case: "call", value: { name: tool, input: Buffer.from(JSON.stringify(input)) } },
        }),
      ),
  };
}

const GRPC = (baseUrl: string): Transport => createGrpcTransport({ baseUrl });
const JSON_OVER_HTTP = (baseUrl: string): Transport =>
  createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false });

describe("an agent that tries to exceed its lease", { timeout: 120_000 }, () => {
  let home: TestHome;
  let serving: Serving;
  before(async () => {
    home = await createTestHome();
    serving = await home.serve();
  });
  after(async () => {
    assert.equal(await serving.stop(), 0);
    await home.remove();
  });

  for (const [name, transport] of [
    ["gRPC", GRPC],
    ["Connect with JSON", JSON_OVER_HTTP],
  ] as const) {
    it(`delegates its own lease by its own token and no other, by ${name}`, async () => {
      const { kernel, admin, adminToken, delegate, call } = await reach(home, serving, transport);
      const session = await home.openSession();
      const sibling = await home.openSession();
      const shut = await home.openSession();
      await admin.closeSession({ sessionId: shut.id }, bearer(adminToken));

      assert.equal(await refusal(kernel.delegateLease({})), "TOKEN_INVALID");
      assert.equal(await refusal(delegate(`${session.token.slice(0, -1)}_`)), "SESSION_UNKNOWN");
      assert.equal(await refusal(delegate(shut.token)), "SESSION_CLOSED");
      assert.equal(await refusal(delegate(adminToken)), "PermissionDenied");
      const parentSessionId = session.id;
      assert.equal(await refusal(admin.openSession({ parentSessionId }, bearer(session.token))), "PermissionDenied");
      const leaseId = (await admin.getSession({ sessionId: sibling.id }, bearer(adminToken))).session?.leaseId ?? "";
      assert.equal(await refusal(admin.getLease({ leaseId }, bearer(session.token))), "PermissionDenied");
      assert.equal(await refusal(admin.revokeLease({ leaseId }, bearer(session.token))), "PermissionDenied");

      for (const forged of [
        { parent_id: leaseId },
        { id: leaseId },
        { holder: sibling.id },
        { parent_session_id: sibling.id },
        { revoked: false },
        { expires_at_ms: 9e15 },
      ]) {
        assert.equal(await refusal(delegate(session.token, forged)), "LEASE_INVALID", JSON.stringify(forged));
      }

      const child = await delegate(session.token, { tool_patterns: ["echo"], budgets: { calls: 3 } });
      assert.equal(codeOf(await call(child.token, "echo", 1)), "success");
      assert.equal(codeOf(await call(child.token, "file_list", { path: "." })), "LEASE_SCOPE");
      for (const wider of [
        { tool_patterns: ["echo", "hash"] },
        { tool_patterns: ["*"] },
        { delegable: { tool_patterns: ["ech*"] } },
        { budgets: { calls: 3 } },
        { capabilities: [{ kind: "fs_read", prefixes: ["/"] }] },
        { capabilities: [{ kind: "fs_read", prefixes: ["*"] }] },
        { capabilities: [{ kind: "fs_read", prefixes: [`${home.workspace}/../home`] }] },
        { capabilities: [{ kind: "fs_read", prefixes: [`${home.workspace}s`] }] },
        { capabilities: [{ kind: "net_read", hosts: [{ host: "example.com." }] }] },
        { ttl_ms: 365 * 24 * 3_600_000 },
      ]) {
        assert.equal(await refusal(delegate(child.token, wider)), "LEASE_INVALID", JSON.stringify(wider));
      }
      for (const budget of ["-1", "1.5", "1e400", "NaN", '"3"', "9007199254740993", "null"]) {
        assert.equal(await refusal(delegate(child.token, `{"budgets":{"calls":${budget}}}`)), "LEASE_INVALID", budget);
      }
    });

    it(`gains nothing by long, deep and malformed requests, by ${name}`, async () => {
      const { delegate, call } = await reach(home, serving, transport);
      const session = await home.openSession();
      const many = Array.from({ length: 100_000 }, (_, index) => `echo_${index}`);
      assert.equal(await refusal(delegate(session.token, { tool_patterns: many.slice(0, 9999) })), "LEASE_INVALID");
      assert.equal(await refusal(delegate(session.token, { tool_patterns: many })), "LEASE_INVALID");
      assert.equal(await refusal(delegate(session.token, "[".repeat(100_000))), "LEASE_INVALID");
      assert.equal(await refusal(delegate(session.token, `{"budgets":{},"budgets":{}}`)), "LEASE_INVALID");
      assert.equal(await refusal(delegate(session.token, "null")), "LEASE_INVALID");
      for (const workingDirectory of [
        "/",
        "/etc",
        "..",
        `${home.workspace}/../home`,
        `${home.workspace}s`,
        home.home,
      ]) {
        const attempt = delegate(session.token, {}, { workingDirectory });
        assert.equal(await refusal(attempt), "INVALID_INPUT", workingDirectory);
      }
      assert.equal(await refusal(delegate(session.token, {}, { seed: new Uint8Array(31) })), "INVALID_INPUT");
      assert.equal(await refusal(delegate(session.token, {}, { labels: ["a\u0000b"] })), "INVALID_INPUT");

      let { token } = session;
      for (let depth = 1; depth <= 16; depth++) ({ token } = await delegate(token));
      assert.equal(await refusal(delegate(token)), "LEASE_INVALID");
      assert.equal(codeOf(await call(token, "echo", 1)), "success");
    });

    it(`gains nothing from a child session that an administrator opens, by ${name}`, async () => {
      const { admin, adminToken } = await reach(home, serving, transport);
      const session = await home.openSession();
      const open = (more: object) => admin.openSession({ parentSessionId: session.id, ...more }, bearer(adminToken));
      assert.equal(await refusal(open({ parentSessionId: "ses_aaaaaaaaaaaaaaaaaaaa" })), "SESSION_UNKNOWN");
      for (const wrong of [{ workspace: "/tmp" }, { tenant: "other" }, { user: "root" }, { adopt: true }]) {
        assert.equal(await refusal(open(wrong)), "INVALID_INPUT", JSON.stringify(wrong));
      }
      assert.equal(await refusal(open({ ttlMs: 30n * 24n * 3_600_000n })), "LEASE_INVALID");
      const { session: child } = await open({ agent: "helper", ttlMs: 1000n });
      assert.deepEqual(
        [child?.parentSessionId, child?.workspace, child?.agent],
        [session.id, home.workspace, "helper"],
      );
    });
  }

  it("cannot overspend through concurrent children, and has nothing left when the first lease ends", async () => {
    const { admin, adminToken, delegate, call } = await reach(home, serving, GRPC);
    const open = (lease: object) =>
      admin.openSession({ workspace: home.workspace, lease: JSON.stringify(lease) }, bearer(adminToken));
    const brief = await open({ ttl_ms: 4000 });
    const childOfBrief = await delegate(brief.token);
    const briefIsOver = new Promise((resolve) => setTimeout(resolve, 4100));

    const root = await open({ budgets: { calls: 20 } });
    const first = await delegate(root.token, { budgets: { calls: 7 } });
    const second = await delegate(root.token, { budgets: { calls: 6 } });
    const below = await delegate(first.token, { budgets: { calls: 4 } });
    assert.equal(await refusal(delegate(root.token, { budgets: { calls: 8 } })), "LEASE_INVALID");
    const tokens = [root, first, second, below].map(({ token }) => token);
    const codes = await Promise.all(
      Array.from({ length: 80 }, async (_, index) => codeOf(await call(tokens[index % 4] ?? "", "echo", index))),
    );
    assert.equal(codes.filter((code) => code === "success").length, 20);
    assert.deepEqual([...new Set(codes)].toSorted(), ["BUDGET_EXCEEDED", "success"]);

    await briefIsOver;
    // From then on the lease is over; within half a minute its session is closed for that.
    const isOver = /^(?:LEASE|SESSION)_EXPIRED$/;
    for (const { token } of [childOfBrief, brief]) {
      assert.match(codeOf(await call(token, "echo", 1)), isOver);
      assert.match(await refusal(delegate(token)), isOver);
    }
    const report = await home.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });
});

const RULE = '@id("shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);';

describe("a lease that is revoked while commands run under it", { timeout: 180_000 }, () => {
  it("ends them with all their processes, and stays revoked however the kernel dies", async () => {
    const home = await createTestHome();
    await home.ask(["init"]);
    await writeFile(join(home.home, "policy", "shell.cedar"), RULE);
    let serving = await home.serve();
    const session = await home.openSession("--adopt");
    let at = await reach(home, serving, GRPC);
    const top = await at.delegate(session.token, { budgets: { calls: 10 } });
    const below = await at.delegate(top.token, { budgets: { calls: 4 } });
    const marks = [`6${process.pid}1`, `6${process.pid}2`];
    const running = [top, below].map(({ token }, index) =>
      at.call(token, "shell_exec", { command: `sleep ${marks[index]} & sleep ${marks[index]}` }),
    );
    for (const mark of marks) await until(async () => (await processesWith(mark)).length >= 2);

    const revoked = await at.admin.revokeLease({ leaseId: top.leaseId, reason: "", by: "ann" }, bearer(at.adminToken));
    assert.deepEqual(revoked.leaseIds, [top.leaseId, below.leaseId]);
    assert.equal(revoked.cancelledCalls, 2);
    for (const { result } of await Promise.all(running)) {
      assert.ok(result.case === "error" && result.value.errorCode === "CANCELLED" && result.value.effectsPossible);
    }
    for (const mark of marks) await until(async () => (await processesWith(mark)).length === 0);

    for (let restarts = 0; restarts < 2; restarts++) {
      serving.child.kill("SIGKILL");
      await ended(serving.child);
      serving = await home.serve();
      at = await reach(home, serving, GRPC);
      for (const { token } of [below, top]) {
        assert.equal(codeOf(await at.call(token, "shell_exec", { command: "true" })), "LEASE_REVOKED");
        assert.equal(await refusal(at.delegate(token)), "LEASE_REVOKED");
      }
      assert.equal(codeOf(await at.call(session.token, "echo", 1)), "success");
    }
    const report = await home.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
    assert.equal(await serving.stop(), 0);
    await home.remove();
  });
});

/** Processes of this machine, inside sandboxes too, with this word among their arguments. */
async function processesWith(word: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "")));
  return lines.filter((line) => line.startsWith("sleep\0") && line.split("\0")[1] === word);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    assert.ok(tries < 3000, "it never came true");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
