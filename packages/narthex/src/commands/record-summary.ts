import type {
  ApprovalDeclined,
  ApprovalResolved,
  EgressRefused,
  Entry,
  Outcome,
  PolicyDecision,
  ProtectedPathsRestored,
  SessionOpened,
} from "@narthex/contracts";
import { formatBytes, formatTime } from "../terminal/units.ts";
import { cutText } from "../terminal/visible.ts";
import { entryName, type RecordView } from "./record-view.ts";

/** Summarizes a record in a few words: what was requested and how it ended. */
export function summariseRecord({ record, subject }: SummarisedRecord, options: SummaryOptions = {}): string {
  const { maxSubject = Number.POSITIVE_INFINITY, call } = options;
  const invoked = (tool: string): string => (subject === "" ? tool : `${tool} ${cutText(subject, maxSubject)}`);
  const decision = summariseDecisions(record.entries);
  const told = record.entries.map((entry) => {
    if (entry.kind.case === "policyDecision") return entry === decision?.entry ? decision.text : "";
    return entry.kind.case === "toolInvoked" ? invoked(summariseEntry(entry)) : summariseEntry(entry);
  });
  const summary = shortenRegistrations(record.entries, told).filter(Boolean).join(" · ") || "empty";
  return call === undefined || record.entries.some(isInvocation) ? summary : `${call} · ${summary}`;
}

/** Describes the call that a record begins: its tool and what it acts on. */
export function summariseCall({ record, subject }: SummarisedRecord, options: SummaryOptions = {}): string | undefined {
  const invoked = record.entries.filter(isInvocation);
  return invoked.length === 0
    ? undefined
    : summariseRecord({ record: { ...record, entries: invoked }, subject }, options);
}

function isInvocation({ kind }: Entry): boolean {
  return kind.case === "toolInvoked";
}

/** Replaces the names of the tools that a kernel registers at start with their number. */
function shortenRegistrations(entries: readonly Entry[], told: readonly string[]): readonly string[] {
  const first = entries.findIndex(({ kind }) => kind.case === "toolRegistered");
  const count = entries.filter(({ kind }) => kind.case === "toolRegistered").length;
  if (count <= MAX_NAMED_TOOLS) return told;
  return told.map((text, at) => {
    if (entries[at]?.kind.case !== "toolRegistered") return text;
    return at === first ? `${count} tools registered` : "";
  });
}

const MAX_NAMED_TOOLS = 3;

type SummarisedRecord = Pick<RecordView, "record" | "subject">;

export interface SummaryOptions {
  /** Maximum number of characters of what a call acts on. */
  readonly maxSubject?: number;
  /** Description of the call that an earlier record began and this one continues. */
  readonly call?: string | undefined;
}

function summariseEntry(entry: Entry): string {
  const { kind } = entry;
  switch (kind.case) {
    case "toolInvoked":
      return kind.value.toolVersion === "" ? kind.value.toolName : `${kind.value.toolName}@${kind.value.toolVersion}`;
    case "capabilityCheck":
      return kind.value.granted ? "" : `refused ${kind.value.rationaleCode}`;
    // Summarized once for all decisions of a record.
    case "policyDecision":
      return "";
    case "approvalRequested":
      return `approval ${kind.value.approvalId} asked for`;
    case "approvalResolved":
      return summariseResolution(kind.value);
    case "approvalDeclined":
      return summariseDecline(kind.value);
    case "standingApprovalRevoked":
      return `approval ${kind.value.standingId} taken back by ${kind.value.by || "an unnamed user"}`;
    case "toolStarted":
      return kind.value.intent ? "started, effects may follow" : "";
    case "toolCompleted":
    case "toolFailed":
    case "toolTimedOut":
    case "toolDenied":
      return summariseOutcome(kind.value);
    case "callRepeated":
      return `repeat of record ${kind.value.firstRecordIndex} by ${kind.value.matchedBy}`;
    case "callCancelled":
      return `cancel ${kind.value.requestId}${kind.value.found ? "" : ", which was not running"}`;
    case "sessionOpened":
      return summariseOpening(kind.value);
    case "sessionClosed":
      return `session ${kind.value.reason}`;
    case "sessionQuarantined":
      return `session quarantined: ${kind.value.reason}`;
    case "leaseGranted":
      return `lease ${kind.value.leaseId} granted`;
    case "budgetExceeded":
      return `budget of ${kind.value.dimension}: ${kind.value.asked} asked for, ${kind.value.remaining} left`;
    case "leaseDelegated":
      return `lease ${kind.value.leaseId} split off ${kind.value.parentLeaseId}`;
    case "leaseRevoked":
      return `lease ${kind.value.leaseId} revoked by ${kind.value.by || "nobody named"}: ${kind.value.reason || "no reason"}`;
    case "leaseReleased":
      return `lease ${kind.value.leaseId} gave its rest back`;
    case "labelsAdopted":
      return `labels ${kind.value.labels.join(", ")}`;
    case "workspaceLabelled":
      return kind.value.labels.length === 0
        ? `labels taken off ${kind.value.workspace} by ${kind.value.by || "nobody named"}`
        : `labels ${kind.value.labels.join(", ")} on ${kind.value.workspace}`;
    case "toolRegistered":
      return `registered ${kind.value.toolName}@${kind.value.toolVersion}`;
    case "toolQuarantined":
      return `quarantined ${kind.value.toolName}@${kind.value.toolVersion}: its definition changed`;
    case "toolUnregistered":
      return `unregistered ${kind.value.toolName}@${kind.value.toolVersion}`;
    case "policyRefused":
      return `policy not taken, asked by ${kind.value.by || "an unnamed user"}: ${kind.value.problem}`;
    case "policyLoaded":
      return kind.value.problem === ""
        ? `policy loaded, ${kind.value.ruleCount} rules`
        : `no policy: ${kind.value.problem}`;
    case "requestRefused":
      return `${kind.value.count} refused at ${kind.value.door}: ${kind.value.reason}`;
    case "outcomeSettled":
      return `${kind.value.requestId} ${kind.value.answer}, says ${kind.value.by}`;
    case "changesUndone":
      return `${kind.value.requestId} ${kind.value.done ? "undone" : "about to be undone"}, asked by ${kind.value.by}`;
    case "hookDecided":
      return `${kind.value.client}'s own ${kind.value.toolName}, not contained: ${kind.value.answer}${kind.value.code === "" ? "" : ` (${kind.value.code})`}`;
    case "contentErased":
      return `item ${kind.value.item} of record ${kind.value.recordIndex} erased: ${kind.value.reason}${kind.value.by === "" ? "" : `, asked by ${kind.value.by}`}`;
    case "homeRestored":
      return kind.value.done
        ? "restored from a backup: all that was under way is ended"
        : `restored from a backup of ${formatTime(kind.value.takenAtMs)}`;
    case "protectedPathsRestored":
      return summariseProtection(kind.value);
    case "contentStored":
      return `content stored, ${formatBytes(kind.value.size)}`;
    case "artifactPublished":
      return `artifact ${kind.value.artifactId} published`;
    case "egressRequested":
      return `${formatEgressTarget(kind.value)} ${kind.value.status === 0 ? "without an answer" : kind.value.status}`;
    case "egressRefused":
      return `${formatEgressTarget(kind.value)} refused (${kind.value.reason})`;
    case "kernelStarted":
      return `kernel ${kind.value.version} started`;
    case "checkpointSigned":
      return `checkpoint of ${kind.value.treeSize} records signed by key ${kind.value.keyId}`;
    case "logKeyAnnounced":
      return `checkpoints are signed by ${kind.value.verifierKey} from now on`;
    case "hostExamined":
      return `host examined: containment level ${kind.value.level}`;
    // An entry kind from a newer version that this version cannot describe.
    case undefined:
      return entryName(entry);
  }
}

interface DecisionSummary {
  /** Entry in whose place the summary is printed. */
  readonly entry: Entry;
  readonly text: string;
}

/**
 * Summarizes the policy decisions about a call in one clause. A call is decided once for each of its targets, and again
 * after a wait: it is denied if any decision denies it, and needs an approval if any decision requires one that is
 * still missing.
 */
function summariseDecisions(entries: readonly Entry[]): DecisionSummary | undefined {
  const answered = entries.findIndex(
    ({ kind }) => kind.case === "approvalResolved" && kind.value.answer === "approved",
  );
  const decisions = entries.flatMap((entry, at) =>
    entry.kind.case === "policyDecision" ? [{ entry, at, decision: entry.kind.value }] : [],
  );
  const denial = decisions.find(({ decision }) => !decision.allowed);
  if (denial !== undefined) return { entry: denial.entry, text: denialText(denial.decision) };
  const asking = decisions.filter(({ decision }) => asksPerson(decision));
  if (asking.length > 0) {
    const [open] = asking.filter(({ at }) => answered < 0 || at < answered);
    return open && { entry: open.entry, text: `${rulesText(asking)} asks a person` };
  }
  const [first] = decisions;
  return first && { entry: first.entry, text: `allowed by ${rulesText(decisions)}` };
}

function rulesText(decisions: readonly { readonly decision: PolicyDecision }[]): string {
  return [...new Set(decisions.flatMap(({ decision }) => decision.ruleIds))].join(", ") || "no rule";
}

function denialText({ ruleIds, rationaleCode, observedOnly }: PolicyDecision): string {
  if (observedOnly) return `denied by ${ruleIds.join(", ") || "no rule"} but only observed`;
  if (ruleIds.length > 0) return `denied by ${ruleIds.join(", ")}`;
  return rationaleCode === "NO_MATCHING_RULE" ? "denied: no rule permits it" : "denied";
}

function asksPerson({ allowed, approve }: PolicyDecision): boolean {
  return allowed && (approve === "human" || approve === "console");
}

/**
 * Describes how an approval request ended and by which decision; a request that its caller withdrew has no approver.
 */
function summariseResolution({ approvalId, answer, approver, door, scope }: ApprovalResolved): string {
  const by = approver || door;
  const term = scope === "" || scope === "once" ? "" : ` (${scope})`;
  return `approval ${approvalId} ${answer.replaceAll("_", " ")}${term}${by === "" ? "" : ` by ${by}`}`;
}

function summariseDecline({ approvalId, client, action }: ApprovalDeclined): string {
  return `approval ${approvalId} still open: client ${client} answered for itself (${action.replaceAll("_", " ")}), no person did`;
}

function summariseProtection({
  workspace,
  paths,
  keptIn,
  afterCrash,
  problem,
  acceptedBy,
}: ProtectedPathsRestored): string {
  if (acceptedBy !== "") return `protected paths of ${workspace} accepted as they are by ${acceptedBy}`;
  if (problem !== "") return `protected paths of ${workspace} NOT put back: ${problem}`;
  const when = afterCrash ? " after a crash" : "";
  return `protected paths of ${workspace} put back${when}: ${paths.join(", ")}, kept in ${keptIn.join(", ")}`;
}

function summariseOpening({ agent, user, workspace, adopted }: SessionOpened): string {
  const handedOver = adopted ? ", which was root's and was handed over" : "";
  return `session opened by ${agent || user || "nobody named"} on ${workspace}${handedOver}`;
}

function formatEgressTarget({ method, host, port }: Pick<EgressRefused, "method" | "host" | "port">): string {
  return `${method} ${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function summariseOutcome(outcome: Outcome): string {
  return outcome.success
    ? `ok, ${formatBytes(outcome.resultSize)} in ${outcome.durationMs} ms`
    : outcome.code === "APPROVAL_PENDING"
      ? "no answer yet"
      : `${outcome.code}${isOwnRule(outcome.ruleId) ? "" : ` by ${outcome.ruleId}`}`;
}

/** The kernel's own stages have ids like rules, but mean nothing to readers of a list. */
function isOwnRule(ruleId: string): boolean {
  return ruleId === "" || ruleId.startsWith("kernel:");
}
