import { createId, KernelError } from "@narthex/contracts";
import type { AppendedRecord, RecordDraft } from "../ledger/record-draft.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import type { Approver, PolicyRules, Random, StateChange } from "../ports.ts";
import type {
  ApprovalKind,
  ApprovalList,
  ApprovalResolution,
  ApprovalRevocation,
  ResolvedApproval,
  StandingApproval,
} from "./approval.ts";
import type { Approvals } from "./approvals-api.ts";
import { type ApprovalOutcome, KERNEL_DOOR, resolvedEntry } from "./approval-outcome.ts";
import {
  toApprovalSource,
  putRow,
  readRow,
  removeRow,
  type StandingApprovalRow,
  type OneTimeApprovalRow,
} from "./approval-rows.ts";
import { type ApprovalSubject, toBindingKey } from "./approval-subject.ts";
import type { ApprovalWait } from "./approval-wait.ts";
import { askApprover, toBoundedText, MAX_APPROVER, MAX_REASON } from "./ask-approver.ts";
import { createChangeSignal } from "./change-signal.ts";
import { exceedsPendingLimits } from "./pending-approval-limits.ts";
import { createDeclineEntry } from "./declines.ts";
import { createEndedApprovals } from "./ended-approvals.ts";
import { createPendingApproval, type PendingApproval } from "./pending-approval.ts";
import { createApprovalNotes } from "./approval-notes.ts";
import { toRuleId } from "./rule-text.ts";
import { createPendingRules } from "./pending-rules.ts";
import { createStandingApprovals } from "./standing-approvals.ts";
import { describeForLedger, createStandingRow, unfit } from "./standing-approval-row.ts";
import { createOneTimeApprovals } from "./one-time-approvals.ts";
import { waitForDecision } from "./wait-for-decision.ts";

export interface ApprovalOptions {
  readonly approver: Approver | undefined;
  readonly rules: PolicyRules | undefined;
  readonly random: Random;
  nowMs(): number;
  append(draft: RecordDraft): Promise<AppendedRecord>;
  /** How long a request stays open and its approval stays valid, both counted from the request. */
  readonly expiryMs: number;
  /** Maximum time a caller waits before it gets `pending`. */
  readonly waitMs: number;
}

/** The web page, and the command line of the user who owns the home. */
const CONSOLE_DOORS: ReadonlySet<string> = new Set(["console", "cli"]);
const MAX_ROWS = 100_000;

export function createApprovals(options: ApprovalOptions): Approvals {
  const { approver, rules, nowMs } = options;
  /** In the order in which they were requested. */
  const open = new Map<string, PendingApproval>();
  const ended = createEndedApprovals();
  const standing = createStandingApprovals();
  const changes = createChangeSignal();
  const pendingRules = createPendingRules();
  const oneTimeApprovals = createOneTimeApprovals(
    nowMs,
    (row) => void closeUnused(row, "timed_out").catch(() => undefined),
  );
  let doors = 0;

  /** SECURITY: an embedder's callback cannot satisfy a rule that demands the console. */
  function isAvailable(kind: ApprovalKind): boolean {
    return doors > 0 || (kind === "human" && approver !== undefined);
  }

  function findReturning(key: string): PendingApproval | undefined {
    for (const question of open.values()) {
      const isFree = !question.isAwaited && !question.isClosed;
      if (question.key === key && isFree && nowMs() < question.request.expiresAtMs) return question;
    }
    return undefined;
  }

  async function begin(subject: ApprovalSubject, wait: ApprovalWait): Promise<PendingApproval> {
    const approvalId = createId("apr", (length) => options.random.bytes(length));
    const requestedAtMs = nowMs();
    const times = { requestedAtMs, expiresAtMs: requestedAtMs + options.expiryMs };
    const notes = createApprovalNotes(subject, standing.findChangedFiles(subject));
    const question = createPendingApproval(approvalId, subject, times, { canWriteRules: rules !== undefined, notes });
    // The request counts from now on, but cannot be decided before it is durable.
    question.isDecided = true;
    open.set(approvalId, question);
    try {
      const row = putRow({ state: "open", approvalId, sessionId: subject.sessionId });
      await wait.requested({ approvalId, expiresAtMs: times.expiresAtMs, row });
    } catch (fault) {
      open.delete(approvalId);
      throw fault;
    }
    question.isDecided = false;
    question.expiry = setTimeout(
      () => void end(question, "timed_out").catch(() => undefined),
      options.expiryMs,
    ).unref();
    changes.notify();
    if (wait.signal?.aborted !== true) askCallback(question);
    return question;
  }

  function askCallback(question: PendingApproval): void {
    if (approver === undefined || question.request.kind === "console") return;
    void askApprover(question.request, approver, question.withdrawal.signal)
      .then((resolution) => (resolution === undefined || question.isDecided ? undefined : resolve(resolution)))
      // A failing store rejects the outcome for the waiting caller; an invalid decision counts as a denial.
      .catch(() => end(question, "denied").catch(() => undefined));
  }

  async function settle(question: PendingApproval, wait: ApprovalWait): Promise<ApprovalOutcome> {
    const { approvalId } = question.request;
    question.isAwaited = true;
    changes.notify();
    const outcome = await waitForDecision(question, {
      signal: wait.signal,
      waitMs: Math.min(options.waitMs, wait.waitMs),
    });
    question.isAwaited = false;
    changes.notify();
    if (outcome.status === "withdrawn") await end(question, "withdrawn");
    // An approval that came at the same moment stays available for a repeat of the call.
    if (outcome.status === "pending" || outcome.status === "withdrawn") oneTimeApprovals.unclaim(approvalId);
    else open.delete(approvalId);
    return outcome;
  }

  /** Ends a request that no user decided; does nothing if a user just did. */
  async function end(question: PendingApproval, answer: "timed_out" | "withdrawn" | "denied"): Promise<void> {
    if (question.isDecided) return;
    question.isDecided = true;
    question.isClosed = answer !== "denied";
    await conclude(question, {
      approvalId: question.request.approvalId,
      status: answer,
      door: KERNEL_DOOR,
      approver: "",
    });
  }

  /** INVARIANT: no caller learns of a decision before it is durable. */
  async function conclude(
    question: PendingApproval,
    outcome: ApprovalOutcome,
    row?: StandingApprovalRow,
  ): Promise<void> {
    const { approvalId, sessionId, expiresAtMs } = question.request;
    const { status, door, approver: by } = outcome;
    question.isRecordingDecision = true;
    clearTimeout(question.expiry);
    question.withdrawal.abort();
    changes.notify();
    const yes: OneTimeApprovalRow | undefined =
      status === "approved"
        ? {
            state: "yes",
            approvalId,
            sessionId,
            key: question.key,
            door,
            approver: by,
            term: outcome.term ?? "once",
            expiresAtMs,
          }
        : undefined;
    try {
      await options.append({
        chain: sessionId,
        entries: [resolvedEntry(outcome, row && describeForLedger(row))],
        state: [yes === undefined ? removeRow(approvalId) : putRow(yes), ...(row === undefined ? [] : [putRow(row)])],
      });
    } catch (fault) {
      open.delete(approvalId);
      question.outcome.reject(fault);
      throw fault;
    }
    if (yes !== undefined) oneTimeApprovals.add(yes, { isTaken: question.isAwaited });
    if (row !== undefined) standing.add(row);
    ended.note(outcome);
    // A denial is kept until the request would have expired, for a caller that repeats the call.
    if (status === "denied" && !question.isAwaited) {
      question.isDenied = true;
      question.expiry = setTimeout(() => open.delete(approvalId), Math.max(0, expiresAtMs - nowMs())).unref();
    } else open.delete(approvalId);
    question.outcome.resolve(outcome);
    changes.notify();
  }

  /** Records the end of an approval that will not be used. */
  async function closeUnused(
    { approvalId, sessionId }: OneTimeApprovalRow,
    answer: "timed_out" | "withdrawn",
  ): Promise<void> {
    const entry = resolvedEntry({ approvalId, status: answer, door: KERNEL_DOOR, approver: "" });
    await options.append({ chain: sessionId, entries: [entry], state: [removeRow(approvalId)] });
  }

  function requirePending(approvalId: string): PendingApproval {
    const question = open.get(approvalId);
    if (question !== undefined && !question.isDecided && nowMs() < question.request.expiresAtMs) return question;
    const became = ended.find(approvalId) ?? (question === undefined ? undefined : "ended");
    const id = `\`${approvalId.slice(0, 80)}\``;
    const message = became === undefined ? `no open question has the id ${id}` : `${id} was ${became} already`;
    throw new KernelError("APPROVAL_NOT_FOUND", message);
  }

  async function resolve(resolution: ApprovalResolution): Promise<ResolvedApproval> {
    const { approvalId, answer, door } = resolution;
    const question = requirePending(approvalId);
    // SECURITY: when another door tries to decide a request for the console, the request stays open.
    if (question.request.kind === "console" && !CONSOLE_DOORS.has(door)) {
      throw new KernelError("APPROVAL_UNAVAILABLE", "this question is answered at the console only");
    }
    const by = toBoundedText(resolution.approver, MAX_APPROVER) ?? "";
    const row = createStandingRow(question, { ...resolution, approver: by }, nowMs());
    if (row !== undefined && !standing.hasRoomFor(row)) {
      throw unfit("answer", "too many answers for longer were given: revoke some first, or answer once");
    }
    question.isDecided = true;
    const { isAwaited } = question;
    const outcome: ApprovalOutcome = {
      approvalId,
      status: answer === "deny" ? "denied" : "approved",
      door,
      approver: by,
      reason: toBoundedText(resolution.reason, MAX_REASON),
      ...(answer !== "deny" && { term: answer }),
      ...(row && { standingId: row.standing.standingId }),
    };
    if (answer !== "rule" || row === undefined) await conclude(question, outcome, row);
    else {
      await pendingRules.track(question.request, async () => {
        await conclude(question, outcome, row);
        await writeRule(question, row);
      });
    }
    return { answer, isAwaited, standing: row?.standing };
  }

  /** Writes a rule, once the approval is in the ledger: no rule may exist without a recorded approval. */
  async function writeRule({ request }: PendingApproval, { standing: given }: StandingApprovalRow): Promise<void> {
    try {
      await rules?.addRule(toRuleId(request.approvalId), request.ruleText);
    } catch (fault) {
      standing.remove(given.standingId);
      await noteRevoked(given, KERNEL_DOOR, []);
      const why = fault instanceof Error ? fault.message : String(fault);
      throw new KernelError("POLICY_INVALID", `the call is approved, once; the rule could not be written: ${why}`);
    }
  }

  async function isInForce({ scope, approvalId }: StandingApproval): Promise<boolean> {
    return scope !== "rule" || rules === undefined || (await rules.hasRule(toRuleId(approvalId)));
  }

  async function revoke({ standingId, by }: ApprovalRevocation): Promise<StandingApproval> {
    // It covers nothing from now on, even if the revocation cannot be recorded.
    const row = standing.remove(standingId);
    if (row === undefined) {
      throw new KernelError("APPROVAL_NOT_FOUND", `no answer for longer has the id \`${standingId.slice(0, 80)}\``);
    }
    const { standing: given } = row;
    if (given.scope === "rule") await removeRule(row);
    const unused = oneTimeApprovals.removeAvailable(given.approvalId);
    await noteRevoked(
      given,
      toBoundedText(by, MAX_APPROVER) ?? "",
      unused === undefined ? [] : [removeRow(given.approvalId)],
    );
    return given;
  }

  async function removeRule(row: StandingApprovalRow): Promise<void> {
    try {
      if (rules === undefined) throw unfit("standing_id", "this kernel has nowhere to take rules from");
      await rules.removeRule(toRuleId(row.standing.approvalId));
    } catch (fault) {
      standing.add(row);
      throw fault;
    }
  }

  async function noteRevoked(given: StandingApproval, by: string, rows: readonly StateChange[]): Promise<void> {
    const { standingId, sessionId } = given;
    changes.notify();
    await options.append({
      chain: sessionId === "" ? SYSTEM_CHAIN : sessionId,
      entries: [{ case: "standingApprovalRevoked", value: { standingId, by } }],
      state: [removeRow(standingId), ...rows],
    });
  }

  const list = (): ApprovalList => ({
    open: [...open.values()]
      .filter(({ isDecided }) => !isDecided)
      .map(({ request, isAwaited, declines }) => ({
        ...request,
        notes: [...request.notes, ...declines.values()],
        isAwaited,
      })),
    standing: standing.list(),
  });

  return {
    findPendingRule: (subject) => pendingRules.find(subject),
    isAvailable,
    openDoor() {
      doors++;
      let isOpen = true;
      return () => {
        if (isOpen) doors--;
        isOpen = false;
      };
    },
    claimApproval(subject) {
      const yes = oneTimeApprovals.claim(toBindingKey(subject), nowMs());
      if (yes !== undefined) return { ...toApprovalSource(yes), status: "approved", term: "once" };
      const given = standing.find(subject);
      return given && { ...toApprovalSource(given), status: "approved", term: "session", standingId: given.standingId };
    },
    async ask(subject, wait) {
      const returning = findReturning(toBindingKey(subject));
      if (returning !== undefined) return settle(returning, wait);
      if (!isAvailable(subject.kind) || exceedsPendingLimits(open.values(), subject)) return undefined;
      return settle(await begin(subject, wait), wait);
    },
    consume: (approvalId, subject) => oneTimeApprovals.consume(approvalId, toBindingKey(subject), nowMs()),
    removeConsumed(approvalId) {
      oneTimeApprovals.remove(approvalId);
      return removeRow(approvalId);
    },
    async release(approvalId) {
      if (oneTimeApprovals.restore(approvalId)) return;
      const unused = oneTimeApprovals.remove(approvalId);
      if (unused !== undefined) await closeUnused(unused, "withdrawn");
    },

    list,
    async *watch(signal) {
      while (!signal.aborted) {
        const seen = changes.count;
        yield list();
        await changes.waitForMore(seen, signal);
      }
    },
    resolve,
    async decline(decline) {
      const question = requirePending(decline.approvalId);
      const entries = [createDeclineEntry(question, decline, nowMs())];
      changes.notify();
      await options.append({ chain: question.request.sessionId, entries });
    },
    revoke,

    async recover(store) {
      for (const stored of await store.listState("approvals", "", MAX_ROWS)) {
        const row = readRow(stored);
        if (row.state === "standing") {
          if (await isInForce(row.standing)) standing.add(row);
          // The kernel crashed before the rule was written, or the rule was deleted.
          else await noteRevoked(row.standing, KERNEL_DOOR, []);
        } else if (row.state === "yes" && nowMs() < row.expiresAtMs) oneTimeApprovals.add(row, { isTaken: false });
        else {
          // SECURITY: no call runs on a decision about a request that this kernel process did not make.
          const { approvalId, sessionId: chain } = row;
          const answer = row.state === "yes" ? "timed_out" : "withdrawn";
          const entry = resolvedEntry({ approvalId, status: answer, door: KERNEL_DOOR, approver: "" });
          await options.append({ chain, entries: [entry], state: [removeRow(approvalId)] });
        }
      }
    },
    async endSession(sessionId) {
      const asked = [...open.values()].filter(({ subject }) => subject.sessionId === sessionId);
      await Promise.all(asked.map((question) => end(question, "withdrawn")));
      // A decision that is being recorded adds rows of its own; wait, so that they are removed too.
      await Promise.allSettled(
        asked.filter(({ isRecordingDecision }) => isRecordingDecision).map(({ outcome }) => outcome.promise),
      );
      const rows = [...oneTimeApprovals.removeSession(sessionId).map(removeRow), ...standing.endSession(sessionId)];
      changes.notify();
      return rows;
    },
    async forgetInputs(inputDigests, by) {
      for (const standingId of standing.findIdsByInput(inputDigests)) await revoke({ standingId, by });
      return oneTimeApprovals.removeInputs(inputDigests).map(removeRow);
    },
    async close() {
      doors = 0;
      await Promise.allSettled([...open.values()].map((question) => end(question, "withdrawn")));
      oneTimeApprovals.clear();
      changes.notify();
    },
  };
}
