import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestHome, SOURCES } from "./home.ts";

test("the command runs from sources like the built one: a kernel serves, handles a call, and stops", async (context) => {
  const at = await createTestHome(SOURCES);
  context.after(() => at.remove());
  const serving = await at.serve();
  const { id } = await at.openSession();
  const { result, via } = await at.ask(["call", "echo", '{"a": 1}', "--session", id]);
  assert.deepEqual(result, { a: 1 }, JSON.stringify(via));
  assert.equal(await serving.stop(), 0);
  await at.ask(["ledger", "verify"]);
});
