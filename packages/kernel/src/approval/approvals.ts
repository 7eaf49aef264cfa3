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
import type { Approvals } from "./approval-desk.ts";
import { type ApprovalOutcome, KERNEL_DOOR, resolvedEntry } from "./approval-outcome.ts";
import { aboutYes, putRow, readRow, removeRow, type StandingRow, type YesRow } from "./approval-rows.ts";
import { type ApprovalSubject, keyOf } from "./approval-subject.ts";
import type { ApprovalWait } from "./approval-wait.ts";
import { askApprover, cut, MAX_APPROVER, MAX_REASON } from "./ask-approver.ts";
import { createChangeSignal } from "./change-signal.ts";
import { isCrowded } from "./crowding.ts";
import { noteDecline } from "./declines.ts";
import { createEndedQuestions } from "./ended-questions.ts";
import { createQuestion, type OpenQuestion } from "./open-question.ts";
import { questionNotes } from "./question-notes.ts";
import { ruleIdOf } from "./rule-text.ts";
import { createRulesOnTheirWay } from "./rules-on-their-way.ts";
import { createStandingAnswers } from "./standing-answers.ts";
import { allowsOf, standingRow, unfit } from "./standing-row.ts";
import { createUnusedYeses } from "./unused-yeses.ts";
import { waitForAnswer } from "./wait-for-answer.ts";

export interface ApprovalOptions {
  readonly approver: Approver | undefined;
  readonly rules: PolicyRules | undefined;
  readonly random: Random;
  nowMs(): number;
  append(draft: RecordDraft): Promise<AppendedRecord>;
  /** How long a question stays open, and how long its answer is good for: both from when it was asked. */
  readonly expiryMs: number;
  /** How long a caller is kept waiting before it is told to come back. */
  readonly waitMs: number;
}

/** The web page, and the command line of whoever owns the home. */
const CONSOLE_DOORS: ReadonlySet<string> = new Set(["console", "cli"]);
const MAX_ROWS = 100_000;

export function createApprovals(options: ApprovalOptions): Approvals {
  const { approver, rules, nowMs } = options;
  /** In the order in which they were asked. */
  const open = new Map<string, OpenQuestion>();
  const ended = createEndedQuestions();
  const standing = createStandingAnswers();
  const changes = createChangeSignal();
  const rulesOnTheirWay = createRulesOnTheirWay();
  const yeses = createUnusedYeses(nowMs, (row) => void closeYes(row, "timed_out").catch(() => undefined));
  let doors = 0;

  /** SECURITY: a rule that demands the console is not satisfied by whoever happens to be asked. */
  function isAvailable(kind: ApprovalKind): boolean {
    return doors > 0 || (kind === "human" && approver !== undefined);
  }

  function findReturning(key: string): OpenQuestion | undefined {
    for (const question of open.values()) {
      const isFree = !question.isAwaited && !question.isGone;
      if (question.key === key && isFree && nowMs() < question.shown.expiresAtMs) return question;
    }
    return undefined;
  }

  async function begin(subject: ApprovalSubject, wait: ApprovalWait): Promise<OpenQuestion> {
    const approvalId = createId("apr", (length) => options.random.bytes(length));
    const requestedAtMs = nowMs();
    const times = { requestedAtMs, expiresAtMs: requestedAtMs + options.expiryMs };
    const notes = questionNotes(subject, standing.changedFor(subject));
    const question = createQuestion(approvalId, subject, times, { canWriteRules: rules !== undefined, notes });
    // It has its place from now on, but nobody can answer what is not durable.
    question.isAnswered = true;
    open.set(approvalId, question);
    try {
      const row = putRow({ state: "open", approvalId, sessionId: subject.sessionId });
      await wait.requested({ approvalId, expiresAtMs: times.expiresAtMs, row });
    } catch (fault) {
      open.delete(approvalId);
      throw fault;
    }
    question.isAnswered = false;
    question.expiry = setTimeout(
      () => void end(question, "timed_out").catch(() => undefined),
      options.expiryMs,
    ).unref();
    changes.changed();
    if (wait.signal?.aborted !== true) askCallback(question);
    return question;
  }

  function askCallback(question: OpenQuestion): void {
    if (approver === undefined || question.shown.kind === "console") return;
    void askApprover(question.shown, approver, question.withdraw.signal)
      .then((resolution) => (resolution === undefined || question.isAnswered ? undefined : resolve(resolution)))
      // Whoever waits for the question is told if the store has failed; an answer that does not fit is none.
      .catch(() => end(question, "denied").catch(() => undefined));
  }

  async function settle(question: OpenQuestion, wait: ApprovalWait): Promise<ApprovalOutcome> {
    const { approvalId } = question.shown;
    question.isAwaited = true;
    changes.changed();
    const outcome = await waitForAnswer(question, {
      signal: wait.signal,
      waitMs: Math.min(options.waitMs, wait.waitMs),
    });
    question.isAwaited = false;
    changes.changed();
    if (outcome.answer === "withdrawn") await end(question, "withdrawn");
    // A yes that came at the same moment is for whoever comes back.
    if (outcome.answer === "pending" || outcome.answer === "withdrawn") yeses.free(approvalId);
    else open.delete(approvalId);
    return outcome;
  }

  /** Ends a question that no person answered, unless somebody just did. */
  async function end(question: OpenQuestion, answer: "timed_out" | "withdrawn" | "denied"): Promise<void> {
    if (question.isAnswered) return;
    question.isAnswered = true;
    question.isGone = answer !== "denied";
    await conclude(question, { approvalId: question.shown.approvalId, answer, door: KERNEL_DOOR, approver: "" });
  }

  /** INVARIANT: nobody is told of an answer before it is durable. */
  async function conclude(question: OpenQuestion, outcome: ApprovalOutcome, row?: StandingRow): Promise<void> {
    const { approvalId, sessionId, expiresAtMs } = question.shown;
    const { answer, door, approver: by } = outcome;
    question.isConcluding = true;
    clearTimeout(question.expiry);
    question.withdraw.abort();
    changes.changed();
    const yes: YesRow | undefined =
      answer === "approved"
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
        entries: [resolvedEntry(outcome, row && allowsOf(row))],
        state: [yes === undefined ? removeRow(approvalId) : putRow(yes), ...(row === undefined ? [] : [putRow(row)])],
      });
    } catch (fault) {
      open.delete(approvalId);
      question.answered.reject(fault);
      throw fault;
    }
    if (yes !== undefined) yeses.add(yes, { isTaken: question.isAwaited });
    if (row !== undefined) standing.add(row);
    ended.note(outcome);
    // A no waits for whoever comes back to hear it, as long as the question would have.
    if (answer === "denied" && !question.isAwaited) {
      question.isRefused = true;
      question.expiry = setTimeout(() => open.delete(approvalId), Math.max(0, expiresAtMs - nowMs())).unref();
    } else open.delete(approvalId);
    question.answered.resolve(outcome);
    changes.changed();
  }

  /** A yes that will not be used. */
  async function closeYes({ approvalId, sessionId }: YesRow, answer: "timed_out" | "withdrawn"): Promise<void> {
    const entry = resolvedEntry({ approvalId, answer, door: KERNEL_DOOR, approver: "" });
    await options.append({ chain: sessionId, entries: [entry], state: [removeRow(approvalId)] });
  }

  function openQuestion(approvalId: string): OpenQuestion {
    const question = open.get(approvalId);
    if (question !== undefined && !question.isAnswered && nowMs() < question.shown.expiresAtMs) return question;
    const became = ended.find(approvalId) ?? (question === undefined ? undefined : "ended");
    const id = `\`${approvalId.slice(0, 80)}\``;
    const message = became === undefined ? `no open question has the id ${id}` : `${id} was ${became} already`;
    throw new KernelError("APPROVAL_NOT_FOUND", message);
  }

  async function resolve(resolution: ApprovalResolution): Promise<ResolvedApproval> {
    const { approvalId, answer, door } = resolution;
    const question = openQuestion(approvalId);
    // SECURITY: a question for the console stays open for the console when another door tries to answer it.
    if (question.shown.kind === "console" && !CONSOLE_DOORS.has(door)) {
      throw new KernelError("APPROVAL_UNAVAILABLE", "this question is answered at the console only");
    }
    const by = cut(resolution.approver, MAX_APPROVER) ?? "";
    const row = standingRow(question, { ...resolution, approver: by }, nowMs());
    if (row !== undefined && !standing.hasRoomFor(row)) {
      throw unfit("answer", "too many answers for longer were given: revoke some first, or answer once");
    }
    question.isAnswered = true;
    const { isAwaited } = question;
    const outcome: ApprovalOutcome = {
      approvalId,
      answer: answer === "deny" ? "denied" : "approved",
      door,
      approver: by,
      reason: cut(resolution.reason, MAX_REASON),
      ...(answer !== "deny" && { term: answer }),
      ...(row && { standingId: row.standing.standingId }),
    };
    if (answer !== "rule" || row === undefined) await conclude(question, outcome, row);
    else {
      await rulesOnTheirWay.during(question.shown, async () => {
        await conclude(question, outcome, row);
        await writeRule(question, row);
      });
    }
    return { answer, isAwaited, standing: row?.standing };
  }

  /** The answer is in the ledger before there is a rule: a rule nobody answers for must not exist. */
  async function writeRule({ shown }: OpenQuestion, { standing: given }: StandingRow): Promise<void> {
    try {
      await rules?.addRule(ruleIdOf(shown.approvalId), shown.ruleText);
    } catch (fault) {
      standing.remove(given.standingId);
      await noteRevoked(given, KERNEL_DOOR, []);
      const why = fault instanceof Error ? fault.message : String(fault);
      throw new KernelError("POLICY_INVALID", `the call is approved, once; the rule could not be written: ${why}`);
    }
  }

  async function isInForce({ scope, approvalId }: StandingApproval): Promise<boolean> {
    return scope !== "rule" || rules === undefined || (await rules.hasRule(ruleIdOf(approvalId)));
  }

  async function revoke({ standingId, by }: ApprovalRevocation): Promise<StandingApproval> {
    // It covers nothing from now on, whatever becomes of the record.
    const row = standing.remove(standingId);
    if (row === undefined) {
      throw new KernelError("APPROVAL_NOT_FOUND", `no answer for longer has the id \`${standingId.slice(0, 80)}\``);
    }
    const { standing: given } = row;
    if (given.scope === "rule") await removeRule(row);
    const unused = yeses.removeFree(given.approvalId);
    await noteRevoked(given, cut(by, MAX_APPROVER) ?? "", unused === undefined ? [] : [removeRow(given.approvalId)]);
    return given;
  }

  async function removeRule(row: StandingRow): Promise<void> {
    try {
      if (rules === undefined) throw unfit("standing_id", "this kernel has nowhere to take rules from");
      await rules.removeRule(ruleIdOf(row.standing.approvalId));
    } catch (fault) {
      standing.add(row);
      throw fault;
    }
  }

  async function noteRevoked(given: StandingApproval, by: string, rows: readonly StateChange[]): Promise<void> {
    const { standingId, sessionId } = given;
    changes.changed();
    await options.append({
      chain: sessionId === "" ? SYSTEM_CHAIN : sessionId,
      entries: [{ case: "standingApprovalRevoked", value: { standingId, by } }],
      state: [removeRow(standingId), ...rows],
    });
  }

  const list = (): ApprovalList => ({
    open: [...open.values()]
      .filter(({ isAnswered }) => !isAnswered)
      .map(({ shown, isAwaited, declines }) => ({
        ...shown,
        notes: [...shown.notes, ...declines.values()],
        isAwaited,
      })),
    standing: standing.list(),
  });

  return {
    ruleOnItsWay: (subject) => rulesOnTheirWay.find(subject),
    isAvailable,
    openDoor() {
      doors++;
      let isOpen = true;
      return () => {
        if (isOpen) doors--;
        isOpen = false;
      };
    },
    findGiven(subject) {
      const yes = yeses.take(keyOf(subject), nowMs());
      if (yes !== undefined) return { ...aboutYes(yes), answer: "approved", term: "once" };
      const given = standing.find(subject);
      return given && { ...aboutYes(given), answer: "approved", term: "session", standingId: given.standingId };
    },
    async ask(subject, wait) {
      const returning = findReturning(keyOf(subject));
      if (returning !== undefined) return settle(returning, wait);
      if (!isAvailable(subject.kind) || isCrowded(open.values(), subject)) return undefined;
      return settle(await begin(subject, wait), wait);
    },
    redeem: (approvalId, subject) => yeses.redeem(approvalId, keyOf(subject), nowMs()),
    spend(approvalId) {
      yeses.remove(approvalId);
      return removeRow(approvalId);
    },
    async release(approvalId) {
      if (yeses.putBack(approvalId)) return;
      const unused = yeses.remove(approvalId);
      if (unused !== undefined) await closeYes(unused, "withdrawn");
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
      const question = openQuestion(decline.approvalId);
      const entries = [noteDecline(question, decline, nowMs())];
      changes.changed();
      await options.append({ chain: question.shown.sessionId, entries });
    },
    revoke,

    async recover(store) {
      for (const stored of await store.listState("approvals", "", MAX_ROWS)) {
        const row = readRow(stored);
        if (row.state === "standing") {
          if (await isInForce(row.standing)) standing.add(row);
          // A crash came before the rule was written, or somebody deleted it.
          else await noteRevoked(row.standing, KERNEL_DOOR, []);
        } else if (row.state === "yes" && nowMs() < row.expiresAtMs) yeses.add(row, { isTaken: false });
        else {
          // SECURITY: nothing runs on an answer to a question that this kernel did not ask.
          const { approvalId, sessionId: chain } = row;
          const answer = row.state === "yes" ? "timed_out" : "withdrawn";
          const entry = resolvedEntry({ approvalId, answer, door: KERNEL_DOOR, approver: "" });
          await options.append({ chain, entries: [entry], state: [removeRow(approvalId)] });
        }
      }
    },
    async endSession(sessionId) {
      const asked = [...open.values()].filter(({ subject }) => subject.sessionId === sessionId);
      await Promise.all(asked.map((question) => end(question, "withdrawn")));
      // What somebody is just answering leaves rows of its own.
      await Promise.allSettled(
        asked.filter(({ isConcluding }) => isConcluding).map(({ answered }) => answered.promise),
      );
      const rows = [...yeses.removeSession(sessionId).map(removeRow), ...standing.endSession(sessionId)];
      changes.changed();
      return rows;
    },
    async forgetInputs(inputDigests, by) {
      for (const standingId of standing.ofInputs(inputDigests)) await revoke({ standingId, by });
      return yeses.removeInputs(inputDigests).map(removeRow);
    },
    async close() {
      doors = 0;
      await Promise.allSettled([...open.values()].map((question) => end(question, "withdrawn")));
      yeses.clear();
      changes.changed();
    },
  };
}
