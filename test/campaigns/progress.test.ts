import assert from "node:assert/strict";
import { test } from "node:test";
import { createCampaignProgress } from "../../campaigns/runner/campaign-progress.ts";

function progressOn(isTerminal: boolean) {
  const written: string[] = [];
  let nowMs = 0;
  const output = { isTerminal, write: (text: string) => void written.push(text) };
  const progress = createCampaignProgress(output, { name: "frames", unit: "frames", total: 1000, nowMs: () => nowMs });
  return {
    written,
    progress,
    at(ms: number, done: number) {
      nowMs = ms;
      progress.update(done);
    },
  };
}

test("redraws one line on a terminal, with the work done, the rate and the remaining time", () => {
  const { written, progress, at } = progressOn(true);
  at(100, 10);
  assert.deepEqual(written, []);
  at(2000, 500);
  assert.deepEqual(written, [
    `\r\u001b[2K${"█".repeat(15)}${"░".repeat(15)} frames: 500 of 1,000 frames, 250/s, 2 s left`,
  ]);
  at(2100, 520);
  assert.equal(written.length, 1);
  at(4000, 1000);
  assert.match(written[1] ?? "", /█{30} frames: 1,000 of 1,000 frames, 250\/s, 0 ms left$/);
  progress.finish();
  assert.equal(written.at(-1), "\r\u001b[2K");
});

test("prints a line every ten seconds elsewhere, without redrawing", () => {
  const { written, progress, at } = progressOn(false);
  for (let second = 1; second <= 25; second++) at(second * 1000, second * 20);
  assert.deepEqual(written, [
    "frames: 200 of 1,000 frames, 20/s, 40 s left\n",
    "frames: 400 of 1,000 frames, 20/s, 30 s left\n",
  ]);
  progress.finish();
  assert.equal(written.length, 2);
});
