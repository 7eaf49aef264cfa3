import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { raceAgainstSwaps } from "./testing/race-against-swaps.ts";

describe("operations on what is exchanged for links all the time", () => {
  for (const canary of ["mounted", "outside"] as const) {
    it(`stay inside when what lies outside is ${canary === "mounted" ? "in the sandbox too" : "not in the sandbox"}`, async () => {
      const { tries, ends, fooled, escapes } = await raceAgainstSwaps({ tries: 600, canary });
      assert.deepEqual(escapes, []);
      assert.ok(tries >= 600);
      assert.ok(fooled > 0, "nobody was fooled: there was no race");
      assert.ok((ends.get("done") ?? 0) > 0 && (ends.get("PATH_ESCAPE") ?? 0) > 0, JSON.stringify([...ends]));
    });
  }
});
