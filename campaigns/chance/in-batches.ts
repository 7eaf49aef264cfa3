import { setImmediate as turn } from "node:timers/promises";
import type { CampaignRound } from "../campaign.ts";

/** How long signals and timers may have to wait. */
const BATCH_MS = 50;

/** Does one step after the other, and between batches of them lets everything else have its turn. */
export async function inBatches(round: CampaignRound, step: (number: number) => void): Promise<void> {
  let batchEndMs = performance.now() + BATCH_MS;
  for (let number = 0; number < round.count; number++) {
    step(number);
    if (performance.now() < batchEndMs) continue;
    round.progress(number + 1);
    await turn();
    batchEndMs = performance.now() + BATCH_MS;
  }
  round.progress(round.count);
}
