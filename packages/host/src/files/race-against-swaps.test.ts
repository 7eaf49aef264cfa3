import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RUNS_ALL } from "../../../../test/sampled.ts";
import { raceAgainstSwaps } from "./testing/race-against-swaps.ts";

const TRIES = RUNS_ALL ? 600 : 300;

describe("operations on what is exchanged for links all the time", () => {
  for (const canary of ["mounted", "outside"] as const) {
    it(`stay inside when what lies outside is ${canary === "mounted" ? "in the sandbox too" : "not in the sandbox"}`, async () => {
      const { tries, ends, fooled, escapes } = await raceAgainstSwaps({ tries: TRIES, canary });
      assert.deepEqual(escapes, []);
      assert.ok(tries >= TRIES);
      assert.ok(fooled > 0, "nobody was fooled: there was no race");
      assert.ok((ends.get("done") ?? 0) > 0 && (ends.get("PATH_ESCAPE") ?? 0) > 0, JSON.stringify([...ends]));
    });
  }
});
