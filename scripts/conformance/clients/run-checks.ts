import type { Check } from "./check.ts";
import { CheckFailure, type Outcome } from "./outcome.ts";
import type { Site } from "./site.ts";

/** Runs checks one after the other, and reports the end of each to `tell`. */
export async function runChecks(
  site: Site,
  checks: readonly Check[],
  tell: (check: Check, outcome: Outcome) => void,
): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const check of checks) {
    const reason = site.client.unsupported?.[check.name];
    const outcome = reason === undefined ? await runCheck(site, check) : ({ kind: "unsupported", reason } as const);
    outcomes.set(check.name, outcome);
    tell(check, outcome);
  }
  return outcomes;
}

async function runCheck(site: Site, check: Check): Promise<Outcome> {
  try {
    const note = await check.run(site);
    return { kind: "pass", ...(note !== undefined && { note }) };
  } catch (fault) {
    if (fault instanceof CheckFailure) return { kind: "fail", reason: fault.message };
    return {
      kind: "fail",
      reason: `internal error: ${fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)}`,
    };
  }
}
