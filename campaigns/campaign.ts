/** A search for counter-examples: small and seeded in `npm test`, at full size in `npm run campaign`. */
export interface Campaign {
  /** Kebab-case, as typed after `npm run campaign`; also the name of its file. */
  readonly name: string;
  /** One line: what is done, and what must hold each time. */
  readonly title: string;
  /** What is counted: frames, kills, mutations. */
  readonly unit: string;
  readonly sample: number;
  readonly full: number;
  run(round: CampaignRound): Promise<CampaignOutcome>;
}

export interface CampaignRound {
  readonly count: number;
  /** The same seed and count do the same. */
  readonly seed: number;
  /** Throws once somebody has interrupted the run, so that a campaign unwinds and puts away what it started. */
  progress(done: number): void;
}

export interface CampaignOutcome {
  readonly done: number;
  /** Lines of the report: what was seen, with its count. */
  readonly facts: ReadonlyArray<readonly [name: string, value: string | number]>;
  /** What did not hold, each with what repeats it. Empty when the campaign passed. */
  readonly failures: readonly string[];
}
