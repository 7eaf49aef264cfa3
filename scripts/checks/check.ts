/** What one check found. */
export interface CheckResult {
  readonly passed: boolean;
  /** A few words for the line of a check that passed: how much it looked at, what it left out. */
  readonly note: string;
  /** Shown when it failed: every problem, each with its place. */
  readonly details: string;
}

export function passed(note = ""): CheckResult {
  return { passed: true, note, details: "" };
}

export function failed(details: string): CheckResult {
  return { passed: false, note: "", details };
}

/** Passed if there are no problems. */
export function judge(problems: readonly string[], note: string): CheckResult {
  return problems.length === 0 ? passed(note) : failed(problems.join("\n"));
}
