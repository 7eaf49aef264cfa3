import type { LedgerFiles } from "@narthex/host";
import { type UnavailableDecision, type RecordedDecision, readDecisions } from "./recorded-decisions.ts";

/** Which past calls a rule is wanted for. */
export interface CallSelection {
  readonly approvalIds: ReadonlySet<string>;
  readonly sessionId: string | undefined;
  /** Whether to select calls that observe mode let through, instead of those that people approved. */
  readonly observed: boolean;
}

export interface SelectedCall {
  /** Id of the approval, or the record's index if no approval was requested. */
  readonly name: string;
  readonly decision: RecordedDecision;
}

export interface SelectedCalls {
  readonly calls: readonly SelectedCall[];
  /** Selected calls that cannot have a rule, with the reason. */
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}

/**
 * Finds the decisions that the chosen calls need a rule for: those that needed an approval, or that were only observed.
 */
export function selectCalls(ledger: LedgerFiles, selection: CallSelection): SelectedCalls {
  const asked = new Map<string, RecordedDecision[]>();
  const answers = new Map<string, string>();
  const lost = new Set<string>();
  const calls: SelectedCall[] = [];
  for (const { message, decisions } of readDecisions(ledger)) {
    if (selection.sessionId !== undefined && message.chain !== selection.sessionId) continue;
    const sound = decisions.filter(isReadable);
    if (selection.observed) {
      for (const decision of sound) {
        const isRefused = decision.observedOnly && decision.before.kind !== "allow";
        if (isRefused) calls.push({ name: String(decision.index), decision });
      }
      continue;
    }
    for (const { kind } of message.entries) {
      if (kind.case === "approvalRequested") {
        const asking = sound.filter(({ before }) => before.kind === "human" || before.kind === "console");
        if (asking.length === 0) lost.add(kind.value.approvalId);
        else asked.set(kind.value.approvalId, asking);
      }
      if (kind.case !== "approvalResolved" || kind.value.answer === "pending") continue;
      // Only the first resolution is the person's own decision; calls that use the approval repeat it, and later
      // entries of the kernel do not change it.
      if (!answers.has(kind.value.approvalId)) answers.set(kind.value.approvalId, kind.value.answer);
    }
  }
  if (selection.observed) return { calls, refused: [] };
  const wanted = selection.approvalIds.size > 0 ? selection.approvalIds : new Set(answers.keys());
  const refused: { name: string; why: string }[] = [];
  for (const name of wanted) {
    const why = describeExclusion(name, asked, answers, lost);
    if (why === undefined) for (const decision of asked.get(name) ?? []) calls.push({ name, decision });
    else if (selection.approvalIds.size > 0) refused.push({ name, why });
  }
  return { calls, refused };
}

function isReadable(decision: RecordedDecision | UnavailableDecision): decision is RecordedDecision {
  return !("lost" in decision);
}

function describeExclusion(
  name: string,
  asked: ReadonlyMap<string, unknown>,
  answers: ReadonlyMap<string, string>,
  lost: ReadonlySet<string>,
): string | undefined {
  if (lost.has(name)) return "what it was about was erased";
  if (!asked.has(name)) return "the ledger holds no such question";
  const answer = answers.get(name) ?? "not answered";
  return answer === "approved" ? undefined : `it was ${answer.replace("_", " ")}`;
}
