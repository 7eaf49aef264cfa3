/** A test of an agent: a whole kernel, a model that follows a script, a person who answers. `npm run example -- testing`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { defineTool, runAgent } from "narthex";
import { createAutoApprover, createScriptedModel, createTestClock, openTestKernel } from "narthex/testing";

const sent: string[] = [];
const sendMail = defineTool({
  name: "send_mail",
  description: "Sends a mail.",
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  tier: "side_effecting",
  run: ({ to }) => sent.push(to),
});
const rules = '@id("ask-mail") @approve("human") permit(principal, action == Action::"send_mail", resource);';

test("the agent sends only what a person allows", async () => {
  const approver = createAutoApprover(({ input }) => JSON.stringify(input).includes("ann@"));
  const clock = createTestClock();
  const policies = [{ name: "mail.cedar", text: rules }];
  await using kernel = await openTestKernel({ tools: [sendMail], policies, approver, clock });
  const session = await kernel.session({ ttlMs: 60_000 });
  const model = createScriptedModel(
    { call: "send_mail", input: { to: "bob@example.com" } },
    { call: "send_mail", input: { to: "ann@example.com" } },
    { text: "Ann has it, Bob does not." },
  );
  const { text } = await runAgent({ session, model, messages: [{ role: "user", text: "Write to both." }] });
  assert.equal(text, "Ann has it, Bob does not.");
  assert.deepEqual(sent, ["ann@example.com"]);
  assert.equal(approver.requests.length, 2);
  clock.advance(60_000);
  assert.equal((await session.call("send_mail", { to: "ann@example.com" })).code, "SESSION_EXPIRED");
});
