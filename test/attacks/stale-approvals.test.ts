import assert from "node:assert/strict";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AdminService, create, KernelService, ToolRequestSchema } from "@narthex/contracts";
import { createHostedHome, type Serving, type TestHome } from "../cli/home.ts";
import { codeOf } from "./served-kernel.ts";

const rules = (id: string): string =>
  `@id("${id}") @approve("human") permit(principal, action in [Action::"file_write", Action::"pay"], resource);\n`;
const PAY = {
  name: "pay",
  version: "1.0.0",
  description: "Pays.",
  command: ["python3", "./pay.py"],
  input_schema: { type: "object" },
  effects: [],
  determinism: "nondeterministic",
  tier: "side_effecting",
};
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("an approval that is late or was given for something else", { timeout: 240_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let token: string;
  let calls = 0;
  before(async () => {
    at = await createHostedHome();
    await at.ask(["init"]);
    await writeFile(join(at.home, "policy", "default.cedar"), rules("ask"));
    await addPay("print(1)\n");
    await start({ approval_ms: 600_000, approval_wait_ms: 0 });
    ({ token } = await at.openSession("--adopt"));
  });
  after(() => at.remove());

  async function start(timeouts: object): Promise<void> {
    await writeFile(join(at.home, "narthex.yaml"), JSON.stringify({ timeouts }), { mode: 0o600 });
    serving = await at.serve();
  }
  async function restart(timeouts: object): Promise<void> {
    assert.equal(await serving.stop(), 0);
    await start(timeouts);
  }
  async function addPay(program: string): Promise<void> {
    const directory = join(at.root, "pay");
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "pay.py"), program);
    await writeFile(join(directory, "tool.json"), JSON.stringify(PAY));
    await at.ask(["tools", "add", join(directory, "tool.json"), "--replace"]);
  }

  const transport = () => createConnectTransport({ baseUrl: String(serving.ready["listen"]), httpVersion: "1.1" });
  function call(name: string, input: object) {
    const tool = { case: "call" as const, value: { name, input: Buffer.from(JSON.stringify(input)) } };
    const request = create(ToolRequestSchema, { requestId: `r${++calls}`, sessionToken: token, tool });
    return createClient(KernelService, transport()).call(request);
  }
  async function pending(name: string, input: object): Promise<string> {
    const { result } = await call(name, input);
    assert.ok(result.case === "error" && result.value.errorCode === "APPROVAL_PENDING", codeOf({ result } as never));
    return result.value.approvalId;
  }
  async function approve(approvalId: string): Promise<void> {
    const adminToken = (await readFile(join(at.home, "run", "admin.token"), "utf8")).trim();
    const yes = { approvalId, answer: "once", approver: "ann" };
    await createClient(AdminService, transport()).resolveApproval(yes, bearer(adminToken));
  }
  const assertNotWritten = (name: string) => assert.rejects(access(join(at.workspace, name)));

  it("permits nothing after another rule asks", async () => {
    const input = { path: "ruled", content: "x" };
    await approve(await pending("file_write", input));
    await writeFile(join(at.home, "policy", "default.cedar"), rules("ask-again"));
    await at.ask(["policy", "reload"]);
    await pending("file_write", input);
    await assertNotWritten("ruled");
  });

  it("permits nothing after the tool was replaced under the same name and version", async () => {
    await approve(await pending("pay", { amount: 1 }));
    await approve(await pending("file_write", { path: "kept", content: "x" }));
    await addPay("print(1000)\n");
    await restart({ approval_ms: 1500, approval_wait_ms: 0 });
    await pending("pay", { amount: 1 });
    // A yes that nobody came back for outlives the kernel: it was the tool that made the difference.
    assert.equal(codeOf(await call("file_write", { path: "kept", content: "x" })), "success");
  });

  it("permits nothing after it expired", async () => {
    const input = { path: "lapsed", content: "x" };
    // On a machine that is slow beyond measure the question may be gone before its answer comes.
    for (let answered = false; !answered; )
      answered = await approve(await pending("file_write", input)).then(() => true, isGone);
    await new Promise((resolve) => setTimeout(resolve, 1600));
    await pending("file_write", input);
    await assertNotWritten("lapsed");
  });

  it("leaves a sound ledger", async () => {
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });
});

function isGone(fault: unknown): false {
  assert.equal(ConnectError.from(fault).code, Code.NotFound);
  return false;
}
