import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { defineTool } from "narthex";
import { createKernel, type SocketKernel } from "../doors/socket-kernel.ts";

const RULES = `@id("asks") @approve("human") permit(principal, action == Action::"pay", resource)
  when { context.input.amount <= 10 };`;

type Change = (input: Record<string, unknown>) => void | Promise<void>;

describe("arguments that change after they were validated", { timeout: 60_000 }, () => {
  const paid: unknown[] = [];
  let root: string;
  let kernel: SocketKernel;
  let asked = 0;
  /** What the way to ask a person does to the question it was given. */
  let meanwhile: Change = () => undefined;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-changed-"));
    const pay = defineTool({
      name: "pay",
      description: "Pays an amount.",
      inputSchema: {
        type: "object",
        required: ["amount"],
        properties: { amount: { type: "integer" }, to: { type: "object", properties: { name: { type: "string" } } } },
        additionalProperties: false,
      },
      tier: "side_effecting",
      // The default policy permits what has no effects, without asking.
      effects: ["env_read"],
      capabilities: [{ kind: "env_read", names: ["WALLET"] }],
      run(input) {
        paid.push(structuredClone(input));
        return { paid: input.amount };
      },
    });
    kernel = await createKernel({
      data: join(root, "home"),
      tools: [pay],
      policies: [{ name: "pay.cedar", text: RULES }],
      approver: {
        door: "test",
        async ask(question) {
          asked++;
          await meanwhile(question.input as Record<string, unknown>);
          return { approved: true, approver: "ada" };
        },
      },
    });
  });
  after(async () => {
    await kernel.close();
    await rm(root, { recursive: true, force: true });
  });

  const open = async () =>
    await kernel.session({
      workspace: await mkdtemp(join(root, "workspace-")),
      lease: { capabilities: [{ kind: "env_read", names: ["WALLET"] }] },
    });

  it("by their caller, during the approval, do not run", async () => {
    const session = await open();
    const codes: string[] = [];
    meanwhile = async () => {
      meanwhile = () => undefined;
      for (const amount of [5000, 9]) {
        const { response } = await session.call("pay", { amount, to: { name: "thief" } }, { requestId: "first" });
        codes.push(response.result.case === "error" ? response.result.value.errorCode : String(response.result.case));
      }
    };
    const first = await session.call("pay", { amount: 5, to: { name: "grocer" } }, { requestId: "first" });
    assert.equal(first.status, "success");
    assert.deepEqual(codes, ["denied", "DUPLICATE_REQUEST_ID"]);
    assert.deepEqual(paid.splice(0), [{ amount: 5, to: { name: "grocer" } }]);
  });

  it("by the approver's code do not run", async () => {
    meanwhile = (question) => {
      // A question that cannot be changed is as good.
      Reflect.set(question, "amount", 9);
    };
    assert.equal((await (await open()).call("pay", { amount: 6 })).status, "success");
    assert.deepEqual(paid.pop(), { amount: 6 });
  });

  it("to values that no rule permits need a call of their own", async () => {
    const session = await open();
    assert.equal((await session.call("pay", { amount: 8 })).status, "success");
    assert.deepEqual(paid.pop(), { amount: 8 });
    const denied = await session.call("pay", { amount: 11 });
    assert.equal(denied.status, "denied");
    assert.deepEqual(paid, []);
    assert.ok(asked >= 3, "no person was asked");
  });
});
