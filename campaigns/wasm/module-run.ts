/** What one module did, in one way to run it. */
export interface ModuleRun {
  readonly file: string;
  /** Why it is not run: not valid, or not taken. */
  readonly left: string | undefined;
  /** Calls of its exports, with what they gave. */
  readonly calls: readonly string[];
  /** What each call used. Empty where nothing is metered. */
  readonly fuel: readonly string[];
  /** What it handed to its host, and its memory at the end. */
  readonly log: readonly string[];
  readonly memory: string;
  /** The first call again, with exactly the fuel it used and with one less: what did not hold. */
  readonly boundary: string | undefined;
}

export type RunMode = "plain" | "metered";
