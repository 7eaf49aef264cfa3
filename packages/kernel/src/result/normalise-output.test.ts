import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel } from "@narthex/testkit";
import { defineTool } from "../tool/define-tool.ts";

test("redacts a secret that a tool returns as a number", async () => {
  const tool = defineTool({
    name: "pin",
    description: "Returns a number.",
    inputSchema: { type: "object" } as const,
    tier: "read_only",
    run: () => ({ pin: 12345678, count: 3 }),
  });
  const redactors = [{ secrets: ["12345678"], replacement: "[secret pin]" }];
  const { open } = await createTestKernel({ tools: [tool], redactors });
  const { raw } = await (await open()).call("pin", {});
  assert.deepEqual(raw, { pin: "[secret pin]", count: 3 });
});
