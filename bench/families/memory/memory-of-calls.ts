import { callMany } from "../../harness/call-many.ts";
import type { Measurement } from "../../harness/measurement.ts";
import { openEmbedded } from "../../harness/open-embedded.ts";
import { MB, measureMemory } from "../../harness/resident.ts";

const FIRST = 20_000;
const LAST = 100_000;
const STEPS = 8;
const IN_FLIGHT = 64;

/** A kernel that runs for long holds no more than one that has just run warm. */
export const memoryOfCalls: Measurement = async ({ scale, directory }) => {
  const embedded = await openEmbedded(directory);
  const first = Math.round(FIRST * scale);
  const step = Math.round(((LAST - FIRST) / STEPS) * scale);
  await callMany(first, IN_FLIGHT, (n) => embedded.call(n));
  const resident = [(await measureMemory()).residentBytes / MB];
  for (let done = 0; done < STEPS; done++) {
    await callMany(step, IN_FLIGHT, (n) => embedded.call(n));
    resident.push((await measureMemory()).residentBytes / MB);
  }
  await embedded.close();
  const growth = (resident.at(-1) ?? 0) - (resident[0] ?? 0);
  return {
    rows: [
      {
        what: `memory from call ${first.toLocaleString("en-US")} to ${(first + STEPS * step).toLocaleString("en-US")}`,
        ours: { value: growth, unit: "MB more" },
        bar: { of: "ours", limit: "at most", value: 32 },
        picture: "memory for 80,000 more calls",
      },
    ],
    raw: { "resident MB after each step": resident },
  };
};
