import assert from "node:assert/strict";
import { test } from "node:test";
import { isErrorCode, KernelError } from "@narthex/contracts";
import { createTestKernel } from "@narthex/testkit";
import { defineTool } from "../../tool/define-tool.ts";

const VIOLATIONS = [{ field: "$.address", rule: "one_of", message: "out of reach" }];

/** Ends as it is told to, with or without a field of its input that is to blame. */
const ending = defineTool({
  name: "ending",
  description: "Ends with a code.",
  inputSchema: {
    type: "object",
    properties: { code: { type: "string" }, named: { type: "boolean" } },
    required: ["code", "named"],
  },
  tier: "read_only",
  run({ code, named }) {
    if (!isErrorCode(code)) throw new TypeError("no code");
    throw new KernelError(code, "refused", named ? { violations: VIOLATIONS } : {});
  },
});

async function stateAfter(times: number, input: { readonly code: string; readonly named: boolean }): Promise<string> {
  const { open, kernel } = await createTestKernel({ tools: [ending] });
  const session = await open();
  for (let i = 0; i < times; i++) await session.call("ending", input);
  return (await kernel.getSession(session.id))?.session.state ?? "";
}

for (const code of ["UNDECLARED_EFFECT", "PATH_ESCAPE", "NETWORK_BLOCKED"]) {
  test(`five calls with ${code} quarantine a session, and four do not`, async () => {
    assert.equal(await stateAfter(4, { code, named: false }), "open");
    assert.equal(await stateAfter(5, { code, named: false }), "quarantined");
  });
}

test("refusals because of the input's text never count, however often they occur", async () => {
  assert.equal(await stateAfter(20, { code: "NETWORK_BLOCKED", named: true }), "open");
  for (const code of ["INVALID_INPUT", "TIMEOUT", "EXECUTION_FAILED"]) {
    assert.equal(await stateAfter(20, { code, named: false }), "open", code);
  }
});
