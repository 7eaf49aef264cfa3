import assert from "node:assert/strict";
import { it } from "node:test";
import { createTestKernel } from "@narthex/testkit";
import { echo } from "./echo.ts";

it("answers any JSON unchanged", async () => {
  const { kernel, open } = await createTestKernel({ tools: [echo] });
  const session = await open();
  for (const input of [null, true, 0, -1.5, "", "ä🐲", [], {}, { b: [1, { a: null }], a: "x" }]) {
    const result = await session.call("echo", input);
    assert.equal(result.status, "success", JSON.stringify(input));
    assert.deepEqual(result.raw, input);
  }
  await kernel.close();
});
