import type { LedgerFiles } from "@narthex/host";
import { reevaluateRequest, type Policy, type PolicySchema, type ReevaluatedDecision } from "@narthex/kernel";
import { type DecisionPlace, type RecordedDecision, readDecisions } from "./recorded-decisions.ts";

/** Decisions that would change in the same way. */
export interface ChangeGroup {
  readonly from: ReevaluatedDecision["kind"];
  readonly to: ReevaluatedDecision["kind"];
  readonly action: string;
  readonly rulesBefore: readonly string[];
  readonly rulesAfter: readonly string[];
  count: number;
  /** The first few of them. */
  readonly examples: (DecisionPlace & { readonly about: string })[];
}

export interface Trial {
  readonly decisions: number;
  readonly unchanged: number;
  readonly changed: number;
  readonly groups: readonly ChangeGroup[];
  /** Number of decisions that could not be evaluated, by reason. They count neither as changed nor as unchanged. */
  readonly notEvaluated: ReadonlyMap<string, number>;
}

export interface TrialOptions {
  readonly policy: Policy;
  readonly schema: PolicySchema;
  /** Policy to compare with; without it, the recorded decisions. */
  readonly baseline?: Policy | undefined;
  /** Only decisions of this session. */
  readonly chain?: string | undefined;
  /** Excludes a decision. */
  readonly isExcluded?: (decision: RecordedDecision) => boolean;
}

const EXAMPLES = 3;
/** Beyond it, further kinds of changes are counted together by their direction. */
const MAX_GROUPS = 10_000;

/** Evaluates every decision of a ledger with another policy, one after the other. */
export function tryPolicy(ledger: LedgerFiles, options: TrialOptions): Trial {
  const { policy, schema, baseline, chain, isExcluded } = options;
  const known = new Set(schema.actions);
  const judge = (by: Policy, { question, input }: RecordedDecision) =>
    reevaluateRequest(question, input, by, (action) => known.has(action));
  const groups = new Map<string, ChangeGroup>();
  const unjudged = new Map<string, number>();
  let [decisions, unchanged, changed] = [0, 0, 0];
  for (const { decisions: found } of readDecisions(ledger)) {
    for (const decision of found) {
      if (chain !== undefined && decision.chain !== chain) continue;
      if ("lost" in decision) {
        decisions++;
        unjudged.set(decision.lost, (unjudged.get(decision.lost) ?? 0) + 1);
        continue;
      }
      if (isExcluded?.(decision) === true) continue;
      decisions++;
      const before = baseline === undefined ? decision.before : judge(baseline, decision);
      const after = judge(policy, decision);
      if ("unjudged" in before || "unjudged" in after) {
        const reason = "unjudged" in before ? before.unjudged : "unjudged" in after ? after.unjudged : "";
        unjudged.set(reason, (unjudged.get(reason) ?? 0) + 1);
      } else if (after.kind === before.kind) unchanged++;
      else {
        changed++;
        addTo(groups, decision, before, after);
      }
    }
  }
  const ordered = [...groups.values()].sort((left, right) => right.count - left.count);
  return { decisions, unchanged, changed, groups: ordered, notEvaluated: unjudged };
}

function addTo(
  groups: Map<string, ChangeGroup>,
  decision: RecordedDecision,
  before: ReevaluatedDecision,
  after: ReevaluatedDecision,
): void {
  const { question } = decision;
  const isFull = groups.size >= MAX_GROUPS;
  const action = isFull ? "other actions" : question.form.action;
  const [rulesBefore, rulesAfter] = isFull ? [[], []] : [before.ruleIds, after.ruleIds];
  const key = JSON.stringify([before.kind, after.kind, action, rulesBefore, rulesAfter]);
  const group: ChangeGroup = groups.get(key) ?? {
    from: before.kind,
    to: after.kind,
    action,
    rulesBefore,
    rulesAfter,
    count: 0,
    examples: [],
  };
  groups.set(key, group);
  group.count++;
  const { index, chain, requestId } = decision;
  if (group.examples.length < EXAMPLES) group.examples.push({ index, chain, requestId, about: describeCall(decision) });
}

/** Describes a call for people, from the facts in the policy request. */
function describeCall({ question: { call } }: RecordedDecision): string {
  if (call.path !== undefined) return call.path;
  if (call.host !== undefined) return `${call.host}:${call.port ?? ""}`;
  if (call.programs !== undefined && call.programs.length > 0) return call.programs.join(" ");
  return "";
}
