import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createHostedHome, objectOf, objectsOf, type TestHome } from "../cli/home.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/wasm/", import.meta.url));

describe("replayed calls of modules", { timeout: 300_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createHostedHome();
    await at.ask(["tools", "add", join(EXAMPLES, "wat", "checksum.wasm")]);
    await at.ask(["tools", "add", join(EXAMPLES, "rust", "dice.wasm")]);
  });
  after(() => at.remove());

  it("have the same result with the same fuel, with the randomness and the clock of their session", async () => {
    const { id } = await at.openSession();
    await at.ask(["call", "wasm_checksum", '"hello"', "--session", id]);
    await at.ask(["call", "wasm_dice", '{"count":5}', "--session", id]);
    await at.ask(["call", "wasm_dice", '{"count":7}', "--session", id]);
    const report = objectOf(objectsOf((await at.ask(["replay", id], 0, { ownProcess: true }))["sessions"])[0]);
    assert.deepEqual([report["clean"], report["ran"], report["served"]], [true, 3, 0], JSON.stringify(report));
  });
});
