import { setTimeout as wait } from "node:timers/promises";

/**
 * Runs every contender once a round, in alternating order, so that a slow minute of the machine meets all of them.
 * One round before the first is not kept: it warms up.
 */
export async function interleave<Name extends string, Result>(
  rounds: number,
  contenders: Readonly<Record<Name, () => Promise<Result> | Result>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(contenders) as Name[];
  const results = Object.fromEntries(names.map((name): [string, Result[]] => [name, []])) as Record<Name, Result[]>;
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      await settle();
      const result = await contenders[name]();
      if (round > 0) results[name].push(result);
    }
  }
  return results;
}

const WINDOW_MS = 20;
const MAX_WINDOWS = 100;
const IDLE_SHARE = 0.2;

/** Threads of this process may still work for the contender before (an index, a checkpoint): no one else pays for it. */
async function settle(): Promise<void> {
  for (let count = 0; count < MAX_WINDOWS; count++) {
    const before = process.cpuUsage();
    const startedMs = performance.now();
    await wait(WINDOW_MS);
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1000 < IDLE_SHARE * (performance.now() - startedMs)) return;
  }
}
