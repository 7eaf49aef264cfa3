import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../kernel-parts.ts";
import { type ContentDraft, type EntryDraft, SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { createPolicyAnnouncement } from "../policy/reload-policy.ts";
import type { PolicyCandidate, PolicySource, StateChange } from "../ports.ts";

/** Returns the policy set that a change of tools is based on. Throws POLICY_INVALID if no policy is in force. */
export function requireActivePolicy({ policy, policySource }: KernelParts): {
  readonly set: Uint8Array;
  readonly source: PolicySource;
} {
  const { current } = policy;
  if (policySource === undefined) {
    throw new KernelError("POLICY_INVALID", "this kernel was given its policy in code: give it all tools at its start");
  }
  if ("problem" in current) throw new KernelError("POLICY_INVALID", `no policy is in force: ${current.problem}`);
  return { set: current.bytes, source: policySource };
}

/** Parts of the record about the change of tools, written together with the rules. */
export interface ToolChangeRecord {
  /** Reason for the change, recorded with the rules. */
  readonly why: string;
  readonly entries: readonly EntryDraft[];
  readonly content: readonly ContentDraft[];
  readonly state: readonly StateChange[];
}

/** Records rules together with the change of tools that they were validated against, then puts them in force. */
export async function activatePolicy(
  { policy: next, commit }: PolicyCandidate,
  { why, entries, content, state }: ToolChangeRecord,
  kernel: KernelParts,
): Promise<void> {
  if ("problem" in next.current) throw new KernelError("POLICY_INVALID", next.current.problem);
  const rules = await createPolicyAnnouncement(next.current, why, kernel);
  if (kernel.closing()) throw new KernelError("STORE_UNAVAILABLE", "the kernel is shutting down");
  await kernel.ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [...rules.entries, ...entries],
    content: [...rules.content, ...content],
    state: [...rules.state, ...state],
  });
  kernel.policy.replace(next);
  commit();
}
