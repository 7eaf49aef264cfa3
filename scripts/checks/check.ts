/** The result of one check. */
export interface CheckResult {
  readonly passed: boolean;
  /** A short summary for a check that passed: how much it examined, what it skipped. */
  readonly note: string;
  /** Shown if the check failed: every problem with its place. */
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
