import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadFamily } from "./load-family.ts";
import { readRunFacts } from "./machine-facts.ts";
import { CACHE } from "./places.ts";
import type { FamilyReport, MeasurementReport } from "./report.ts";
import { runMeasurement } from "./run-measurement.ts";

export interface FamilyRun {
  readonly name: string;
  /** The family's folder. */
  readonly directory: string;
  /** Of its measurements; empty means all. */
  readonly only: readonly string[];
  readonly rounds: number;
  readonly scale: number;
  readonly minutes: number;
  readonly scratch: string;
  readonly say: (line: string) => void;
}

/** Makes the measurements of a family, one after the other. */
export async function runFamily(run: FamilyRun): Promise<FamilyReport> {
  const { name, directory, only, rounds, scale, minutes, scratch, say } = run;
  const family = await loadFamily(directory);
  const facts = readRunFacts(scratch, family.packages);
  await mkdir(CACHE, { recursive: true });
  const startedMs = Date.now();
  const deadlineMs = startedMs + minutes * 60_000;
  const measurements: MeasurementReport[] = [];
  for (const measurement of family.measurements.filter((one) => only.length === 0 || only.includes(one))) {
    const begunMs = Date.now();
    const answer = await runMeasurement({
      module: pathToFileURL(join(directory, `${measurement}.ts`)).href,
      exportName: measurement.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
      scratch,
      bench: { rounds, scale, cache: CACHE, deadlineMs },
    });
    const seconds = (Date.now() - begunMs) / 1000;
    const { outcome, ...reason } = "outcome" in answer ? answer : { ...answer, outcome: { rows: [], raw: {} } };
    measurements.push({ name: measurement, seconds, ...reason, ...outcome });
    say(`  ${name}/${measurement}: ${seconds.toFixed(1)} s`);
  }
  const seconds = (Date.now() - startedMs) / 1000;
  return { family: name, title: family.title, rounds, scale, seconds, facts, measurements };
}
