import type { CampaignOutcome } from "../campaign.ts";

/** So many failures are told in full; more would be the same one again. */
const MOST_TOLD = 20;
const MOST_CHARACTERS = 2000;

/** What a campaign saw: counts by name, and what did not hold. */
export class Findings {
  readonly #counts = new Map<string, number>();
  readonly #facts: (readonly [string, string | number])[] = [];
  readonly #told: string[] = [];
  #failures = 0;

  /** One more of these. Counted names come in the report in their alphabetical order. */
  count(name: string, times = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + times);
  }

  fact(name: string, value: string | number): void {
    this.#facts.push([name, value]);
  }

  fail(what: string): void {
    this.#failures++;
    if (this.#told.length < MOST_TOLD) this.#told.push(what.slice(0, MOST_CHARACTERS));
  }

  /** Runs a check; what it throws is a failure, told with the case it failed for. */
  check(describe: () => string, check: () => void): void {
    try {
      check();
    } catch (fault) {
      this.fail(`${describe()}: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  }

  outcome(done: number): CampaignOutcome {
    const more = this.#failures - this.#told.length;
    const counts = [...this.#counts].sort(([left], [right]) => (left < right ? -1 : 1));
    return {
      done,
      facts: [...this.#facts, ...counts],
      failures: more > 0 ? [...this.#told, `and ${more} more`] : this.#told,
    };
  }
}
