import { test } from "node:test";
import { createMemoryContentStore, createTestKernel, createTestPolicy, echoTool } from "@narthex/testkit";
import { verifyStore } from "../testing/verify-store.ts";

const WORD = "postgres";

test("rules of any length that contain a secret's text are stored whole, and the ledger verifies", async () => {
  for (const count of [1, 2000]) {
    const contentStore = createMemoryContentStore();
    const rules = Array.from({ length: count }, (_, i) => ({ id: `${WORD}-${i}`, action: "echo" }));
    const { open, store } = await createTestKernel({
      tools: [echoTool],
      policy: createTestPolicy(rules, [echoTool]),
      contentStore,
      redactors: [{ secrets: [WORD], replacement: "[secret db]" }],
    });
    await (await open()).call("echo", 1);
    await verifyStore(store, contentStore);
  }
});
