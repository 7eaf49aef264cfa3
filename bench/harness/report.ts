import type { RunFacts } from "./machine-facts.ts";
import type { Outcome } from "./measurement.ts";

/** One family's run, as it is kept in `docs/bench/FAMILY.json`. */
export interface FamilyReport {
  readonly family: string;
  readonly title: string;
  readonly rounds: number;
  readonly scale: number;
  readonly seconds: number;
  readonly facts: RunFacts;
  readonly measurements: readonly MeasurementReport[];
}

export interface MeasurementReport extends Outcome {
  readonly name: string;
  readonly seconds: number;
  /** Why there are no rows. */
  readonly notMeasured?: string;
  /** The same, but something went wrong. */
  readonly failed?: string;
}
