import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createKernel, defineTool } from "narthex";

const RULES = `@id("asks") @approve("human") permit(principal, action == Action::"pay", resource)
  when { context.input.amount <= 10 };`;

type Change = (input: Record<string, unknown>) => void;

describe("arguments that change after they were checked", { timeout: 60_000 }, () => {
  const paid: unknown[] = [];
  let root: string;
  let kernel: Awaited<ReturnType<typeof createKernel>>;
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
        ask(question) {
          asked++;
          try {
            meanwhile(question.input as Record<string, unknown>);
          } catch {
            // A question that cannot be changed is as good.
          }
          return Promise.resolve({ approved: true, approver: "ada" });
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

  it("by their caller, while a person is asked, are not what runs", async () => {
    const input = { amount: 5, to: { name: "grocer" } };
    const calling = (await open()).call("pay", input);
    input.amount = 5000;
    input.to.name = "thief";
    assert.equal((await calling).status, "success");
    assert.deepEqual(paid.pop(), { amount: 5, to: { name: "grocer" } });
  });

  it("by whoever asks the person, are not what runs", async () => {
    meanwhile = (question) => {
      question["amount"] = 9;
    };
    assert.equal((await (await open()).call("pay", { amount: 6 })).status, "success");
    assert.deepEqual(paid.pop(), { amount: 6 });
  });

  it("by each look at them, are read once, and decided on as they were read", async () => {
    let looks = 0;
    const input = {
      get amount() {
        return looks++ === 0 ? 7 : 5000;
      },
    };
    const result = await (await open()).call("pay", input);
    // One that is read for each check would be permitted as 7 and paid as 5000.
    const last = paid.pop();
    assert.ok(result.status !== "success" || JSON.stringify(last) === '{"amount":7}', JSON.stringify(last));
    assert.deepEqual(paid, []);
  });

  it("to what no rule permits, are a call of their own", async () => {
    const session = await open();
    assert.equal((await session.call("pay", { amount: 8 })).status, "success");
    assert.deepEqual(paid.pop(), { amount: 8 });
    const denied = await session.call("pay", { amount: 11 });
    assert.equal(denied.status, "denied");
    assert.deepEqual(paid, []);
    assert.ok(asked >= 4, "nobody was asked");
  });
});
