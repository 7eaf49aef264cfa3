import { KernelError, type Violation } from "@narthex/contracts";
import { joinLabels } from "../label/join-labels.ts";
import type { WorkspaceLabels } from "../label/workspace-labels.ts";
import { isRequestedBySession, type Delegation } from "../lease/delegation.ts";
import { type OptionNames, refuseUnknownOptions } from "../refuse-unknown-options.ts";
import type { LiveSession } from "./live-session.ts";
import { validateOpenOptions } from "./validate-open-options.ts";

/** Each one is looked up, and is an item of the record that opens the child. */
const MAX_GRANTED = 100;
const NAMES: OptionNames<Delegation> = {
  token: true,
  sessionId: true,
  isOwn: true,
  lease: true,
  ttlMs: true,
  agent: true,
  workingDirectory: true,
  seed: true,
  labels: true,
  contentHashes: true,
  workspace: true,
  tenant: true,
  user: true,
};
const INHERITED = ["workspace", "tenant", "user"] as const;

/**
 * Checks everything in a delegation except the lease, which is validated when it is created. Throws INVALID_INPUT with
 * all violations.
 */
export function checkDelegation(
  delegation: Delegation,
  { session, labels: present }: LiveSession,
  workspaceLabels: WorkspaceLabels,
): void {
  refuseUnknownOptions(delegation, NAMES, "a delegation");
  const { agent, workingDirectory, seed, ttlMs, labels = [], contentHashes = [] } = delegation;
  const violations: Violation[] = [
    ...validateOpenOptions(
      {
        workspace: session.workspace,
        labels,
        ...(agent !== undefined && { agent }),
        ...(workingDirectory !== undefined && { workingDirectory }),
        ...(seed !== undefined && { seed }),
        ...(ttlMs !== undefined && { ttlMs }),
      },
      joinLabels(present, workspaceLabels.get(session.workspace)),
    ),
  ];
  if (contentHashes.length > MAX_GRANTED) {
    const message = `has ${contentHashes.length} entries, at most ${MAX_GRANTED} are allowed`;
    violations.push({ field: "content_hashes", rule: "max_items", message });
  }
  // SECURITY: the agent is the principal of every rule. A session that could name its child's agent would choose its
  // own rules.
  const kept = isRequestedBySession(delegation) ? (["workspace", "tenant", "user", "agent"] as const) : INHERITED;
  for (const key of kept) {
    const given = delegation[key];
    if (given === undefined || given === session[key]) continue;
    violations.push({ field: key, rule: "one_of", message: "is the parent's and cannot be another" });
  }
  if (violations.length === 0) return;
  const text = violations.map((violation) => `${violation.field} ${violation.message}`).join("; ");
  throw new KernelError("INVALID_INPUT", `the session cannot be split: ${text}`, { violations });
}
