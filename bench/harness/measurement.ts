/** A group of measurements: a folder in `bench/families` with a `family.ts` that exports `family`. */
export interface Family {
  /** One line above its table. */
  readonly title: string;
  /** In the order of the table. Each is a file beside `family.ts` and the export named like it. */
  readonly measurements: readonly string[];
  /** Packages whose versions are kept with the numbers. */
  readonly packages: readonly string[];
}

/** What is measured together, in a process of its own that has nothing else to do. */
export type Measurement = (bench: Bench) => Promise<Outcome>;

export interface Bench {
  readonly rounds: number;
  /** 1 in a full run. Less makes rounds shorter and everything that is counted smaller. */
  readonly scale: number;
  /** Empty, on a disk, removed afterwards. */
  readonly directory: string;
  /** For what is expensive to make: kept from run to run. */
  readonly cache: string;
  /** When the family's time is over, in ms since the epoch. */
  readonly deadlineMs: number;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** The figure of every round, by what it is. */
  readonly raw: Readonly<Record<string, readonly number[]>>;
  readonly notes?: readonly string[];
}

export interface Row {
  readonly what: string;
  readonly ours: Figure;
  readonly beside?: Figure & { readonly name: string };
  readonly ratio?: number;
  readonly bar?: Bar;
  /** Shown in the picture under this name. */
  readonly picture?: string;
}

export interface Figure {
  readonly value: number;
  readonly unit: string;
}

export interface Bar {
  /** What is held against it. */
  readonly of: "ratio" | "ours";
  readonly limit: "at least" | "at most";
  readonly value: number;
}

/** Thrown by a measurement that cannot be made here: told as it is, and no failure. */
export class NotMeasured extends Error {
  override readonly name = "NotMeasured";
}
