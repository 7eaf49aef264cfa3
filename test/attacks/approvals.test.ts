import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AdminService, create, KernelService, ToolRequestSchema, type ToolResponse } from "@narthex/contracts";
import { createTestHome, type Serving, type TestHome } from "../cli/home.ts";

const POLICY = `
@id("ask") @approve("human")
permit(principal, action in [Action::"echo", Action::"file_write", Action::"shell_exec"], resource);
@id("ask-console") @approve("console")
permit(principal, action == Action::"hash", resource);
`;

const codeOf = ({ result }: ToolResponse): string =>
  result.case === "error"
    ? result.value.errorCode
    : result.case === "denied"
      ? result.value.rationaleCode
      : String(result.case);

const isCode = (code: Code) => (error: unknown) => error instanceof ConnectError && error.code === code;

describe("an agent that wants its own approval", { timeout: 240_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let session: { readonly id: string; readonly token: string };
  let calls = 0;
  before(async () => {
    at = await createTestHome();
    await at.ask(["init"]);
    await writeFile(join(at.home, "policy", "default.cedar"), POLICY);
    // A question that nobody answers is told as such soon.
    await writeFile(join(at.home, "narthex.yaml"), "timeouts: { approval_wait_ms: 300 }\n", { mode: 0o600 });
    serving = await at.serve();
    session = await at.openSession("--adopt");
  });
  after(() => at.remove());

  const transport = () => createConnectTransport({ baseUrl: String(serving.ready["listen"]), httpVersion: "1.1" });
  const admin = () => createClient(AdminService, transport());
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const tokenOf = async (scope: "admin" | "approve" | "read"): Promise<string> =>
    (await readFile(join(at.home, "run", `${scope}.token`), "utf8")).trim();

  function call(name: string, input: unknown, more: { sessionToken?: string; requestId?: string } = {}) {
    const request = create(ToolRequestSchema, {
      requestId: more.requestId ?? `r${++calls}`,
      sessionToken: more.sessionToken ?? session.token,
      tool: { case: "call", value: { name, input: Buffer.from(JSON.stringify(input)) } },
    });
    return createClient(KernelService, transport()).call(request);
  }

  async function pending(name: string, input: unknown): Promise<string> {
    const { result } = await call(name, input);
    assert.ok(result.case === "error" && result.value.errorCode === "APPROVAL_PENDING", codeOf({ result } as never));
    return result.value.approvalId;
  }

  it("cannot list, decide or revoke with its session's token, with a read token, or without a token", async () => {
    const approvalId = await pending("echo", { attack: "own token" });
    const attempts = [
      [session.token, Code.PermissionDenied],
      [(await at.openSession()).token, Code.PermissionDenied],
      [await tokenOf("read"), Code.PermissionDenied],
      [(await tokenOf("approve")).replace("approve", "admin"), Code.Unauthenticated],
      ["x", Code.Unauthenticated],
      ["", Code.Unauthenticated],
    ] as const;
    for (const [token, code] of attempts) {
      const options = token === "" ? {} : bearer(token);
      const yes = { approvalId, answer: "once", approver: "root" };
      await assert.rejects(admin().resolveApproval(yes, options), isCode(code));
      await assert.rejects(admin().listApprovals({}, options), isCode(code));
      await assert.rejects(admin().revokeApproval({ standingId: "sta_x", by: "root" }, options), isCode(code));
    }
    assert.equal(codeOf(await call("echo", { attack: "own token" })), "APPROVAL_PENDING");
  });

  it("cannot change a program after its approval, which is bound to the file's content", async () => {
    const options = bearer(await tokenOf("approve"));
    const write = (name: string, text: string) => writeFile(join(at.workspace, name), text, { mode: 0o755 });
    const run = (command: string) => call("shell_exec", { command });
    const allow = async (command: string, answer: "once" | "session") => {
      const approvalId = await pending("shell_exec", { command });
      const { approvals } = await admin().listApprovals({}, options);
      await admin().resolveApproval({ approvalId, answer, approver: "ann" }, options);
      return approvals.find((info) => info.approvalId === approvalId);
    };
    await write("deploy.sh", "#!/bin/sh\necho good\n");
    const asked = await allow("./deploy.sh staging", "session");
    assert.equal(asked?.sessionScope, 'the command "./deploy.sh" "staging", as long as "deploy.sh" is unchanged');
    assert.match(asked?.ruleText ?? "", /^\/\/ It does not look at what "deploy\.sh" holds\.$/m);
    for (let times = 0; times < 2; times++) assert.equal(codeOf(await run("./deploy.sh staging")), "success");
    await write("deploy.sh", "#!/bin/sh\necho evil\n");
    const again = await allow("./deploy.sh staging", "once");
    assert.deepEqual(again?.notes, [
      '"deploy.sh" changed since it was allowed for this session',
      "it runs without network",
    ]);
    // A yes to this very call is bound to it as well, and what an interpreter is given is a program too.
    await write("deploy.sh", "#!/bin/sh\necho worse\n");
    assert.equal(codeOf(await run("./deploy.sh staging")), "APPROVAL_PENDING");
    await write("run.sh", "echo good\n");
    await write("package.json", '{"scripts": {"deploy": "true"}}');
    for (const [command, file] of [
      ["bash run.sh && echo done", "run.sh"],
      ["npm run deploy", "package.json"],
    ] as const) {
      await allow(command, "session");
      await write(file, "{}\n");
      assert.equal(codeOf(await run(command)), "APPROVAL_PENDING", command);
    }
    const many = `bash zz.sh ${Array.from({ length: 40 }, (_, at) => `a${at}`).join(" ")}`;
    for (const command of [
      many,
      "cd x && ./deploy.sh",
      "cd x && npm run deploy",
      "/tmp/deploy.sh",
      "bash /tmp/deploy.sh",
      "x/../../deploy.sh",
    ]) {
      await assert.rejects(allow(command, "session"), /cannot be looked at: answer once or as a rule/, command);
    }
  });

  it("cannot get a console-only request decided with an approval token", async () => {
    const approvalId = await pending("hash", { data: "x" });
    const approve = bearer(await tokenOf("approve"));
    const yes = { approvalId, answer: "once", approver: "bot" };
    const { approvals } = await admin().listApprovals({}, approve);
    assert.equal(approvals.find((info) => info.approvalId === approvalId)?.kind, "console");
    await assert.rejects(admin().resolveApproval(yes, approve), /console only/);
    const claiming = { headers: { ...approve.headers, "narthex-door": "console", "x-forwarded-for": "127.0.0.1" } };
    await assert.rejects(admin().resolveApproval(yes, claiming), /console only/);
    await admin().resolveApproval(yes, bearer(await tokenOf("admin")));
    assert.equal(codeOf(await call("hash", { data: "x" })), "success");
  });

  it("cannot decide by made-up ids, invalid decisions or a decision without a name", async () => {
    const approvalId = await pending("echo", { attack: "forged" });
    const options = bearer(await tokenOf("approve"));
    const attempts: readonly (readonly [object, Code])[] = [
      [{ approvalId: "apr_aaaaaaaaaaaaaaaaaaaa" }, Code.NotFound],
      [{ approvalId: "" }, Code.NotFound],
      [{ approvalId: "__proto__" }, Code.NotFound],
      [{ approvalId: `${approvalId}\n` }, Code.NotFound],
      [{ answer: "yes" }, Code.InvalidArgument],
      [{ answer: "" }, Code.InvalidArgument],
      [{ answer: "ONCE" }, Code.InvalidArgument],
      [{ answer: "session:2" }, Code.InvalidArgument],
      [{ answer: "once", words: 2 }, Code.InvalidArgument],
      [{ answer: "session", words: 2 ** 32 - 1 }, Code.InvalidArgument],
      [{ approver: "" }, Code.InvalidArgument],
      [{ approver: " \t" }, Code.InvalidArgument],
    ];
    for (const [change, code] of attempts) {
      const resolution = { approvalId, answer: "once", approver: "ann", ...change };
      await assert.rejects(admin().resolveApproval(resolution, options), isCode(code), JSON.stringify(change));
    }
    assert.equal(codeOf(await call("echo", { attack: "forged" })), "APPROVAL_PENDING");
  });

  it("gets one decision if two doors decide at once: the first counts, and the other is told", async () => {
    const approvalId = await pending("echo", { attack: "race" });
    const options = bearer(await tokenOf("admin"));
    const answers = ["deny", "once", "session", "deny", "once", "rule"].map((answer) =>
      admin().resolveApproval({ approvalId, answer, approver: "ann" }, options),
    );
    const results = await Promise.allSettled(answers);
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    for (const result of results) {
      if (result.status === "rejected") assert.match(String(result.reason), /already/);
    }
  });

  it("runs once per approval, however many parallel calls and request ids it uses", async () => {
    const input = { path: "once.txt", content: "x", append: true };
    const approvalId = await pending("file_write", input);
    await admin().resolveApproval({ approvalId, answer: "once", approver: "ann" }, bearer(await tokenOf("approve")));
    const results = await Promise.all(Array.from({ length: 8 }, () => call("file_write", input)));
    assert.equal(results.map(codeOf).filter((code) => code === "success").length, 1);
    assert.equal(await readFile(join(at.workspace, "once.txt"), "utf8"), "x");
  });

  it("cannot use an approval for another input or another session", async () => {
    const other = await at.openSession();
    const approvalId = await pending("file_write", { path: "mine.txt", content: "harmless" });
    await admin().resolveApproval({ approvalId, answer: "once", approver: "ann" }, bearer(await tokenOf("approve")));
    const stolen = { path: "mine.txt", content: "harmless" };
    assert.equal(codeOf(await call("file_write", stolen, { sessionToken: other.token })), "APPROVAL_PENDING");
    assert.equal(codeOf(await call("file_write", { ...stolen, content: "harmful" })), "APPROVAL_PENDING");
    assert.equal(codeOf(await call("file_write", stolen)), "success");
  });

  it("gets a session approval or a rule for a path for that path only", async () => {
    const options = bearer(await tokenOf("admin"));
    const approvalId = await pending("file_write", { path: "a.txt", content: "1" });
    const { standing } = await admin().resolveApproval({ approvalId, answer: "session", approver: "ann" }, options);
    assert.equal(codeOf(await call("file_write", { path: "a.txt", content: "2" })), "success");
    assert.equal(codeOf(await call("file_write", { path: join(at.workspace, "a.txt"), content: "3" })), "success");
    const ruled = await pending("file_write", { path: "b.txt", content: "1" });
    await admin().resolveApproval({ approvalId: ruled, answer: "rule", approver: "ann" }, options);
    assert.equal(codeOf(await call("file_write", { path: "b.txt", content: "2" })), "success");
    for (const path of ["a.txt.bak", "A.txt", "b.txt/c", "c.txt"]) {
      assert.equal(codeOf(await call("file_write", { path, content: "x" })), "APPROVAL_PENDING", path);
    }
    await admin().revokeApproval({ standingId: standing?.standingId ?? "", by: "ann" }, options);
    assert.equal(codeOf(await call("file_write", { path: "a.txt", content: "4" })), "APPROVAL_PENDING");
  });

  it("cannot inject a rule into the policy through any part of a generated rule", async () => {
    const options = bearer(await tokenOf("admin"));
    const path = '"].contains(context.path) }; @id("mine") @approve("none") permit(principal, action, resource); //';
    const approvalId = await pending("file_write", { path, content: "x" });
    await admin().resolveApproval({ approvalId, answer: "rule", approver: "ann" }, options);
    assert.equal(codeOf(await call("echo", { attack: "rule" })), "APPROVAL_PENDING");
    const { policy } = await admin().getPolicy({}, options);
    assert.equal(policy?.problem, "");
  });

  it("gets nothing from a decision on a request of an earlier kernel", async () => {
    const approvalId = await pending("echo", { attack: "restart" });
    serving.child.kill("SIGKILL");
    serving = await at.serve();
    const options = bearer(await tokenOf("admin"));
    assert.deepEqual((await admin().listApprovals({}, options)).approvals, []);
    const yes = { approvalId, answer: "once", approver: "ann" };
    await assert.rejects(admin().resolveApproval(yes, options), isCode(Code.NotFound));
    assert.equal(codeOf(await call("echo", { attack: "restart" })), "APPROVAL_PENDING");
  });

  it("leaves a sound ledger", async () => {
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });
});
