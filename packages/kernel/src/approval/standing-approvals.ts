import type { StateChange } from "../ports.ts";
import type { StandingApproval } from "./approval.ts";
import { removeRow, type StandingApprovalRow } from "./approval-rows.ts";
import { coversScope } from "./approval-scope.ts";
import { changedFiles, filesKey } from "./approved-files.ts";
import { sessionApprovalProblem } from "./pending-approval.ts";
import { type ApprovalSubject, toSessionBindingKey } from "./approval-subject.ts";

/** SECURITY: what people said in one session stays bounded; a rule is theirs to take back. */
const MAX_PER_SESSION = 256;
const MAX_RULES = 10_000;

/** Answers that were given for longer than one call. */
export interface StandingApprovals {
  list(): readonly StandingApproval[];
  /** Whether there is room for one more. */
  hasRoomFor(row: StandingApprovalRow): boolean;
  add(row: StandingApprovalRow): void;
  /** Takes one out: it covers nothing from now on. */
  remove(standingId: string): StandingApprovalRow | undefined;
  /** One that covers this very call. */
  find(subject: ApprovalSubject): StandingApproval | undefined;
  /** Files because of which an answer that covered this very call does so no more. */
  findChangedFiles(subject: ApprovalSubject): readonly string[];
  /** Those for exactly one of these inputs, as hex. */
  findIdsByInput(inputDigests: ReadonlySet<string>): readonly string[];
  /** Forgets what was said for a session, and gives the rows to be removed. */
  endSession(sessionId: string): StateChange[];
}

export function createStandingApprovals(): StandingApprovals {
  const rules = new Map<string, StandingApprovalRow>();
  /** By session, then by id. */
  const sessions = new Map<string, Map<string, StandingApprovalRow>>();
  const ofSession = (sessionId: string): ReadonlyMap<string, StandingApprovalRow> => sessions.get(sessionId) ?? NONE;

  function* all(): Generator<StandingApprovalRow> {
    yield* rules.values();
    for (const rows of sessions.values()) yield* rows.values();
  }

  /** Answers for such a call, whatever has become of the files they are bound to. */
  function covering(subject: ApprovalSubject): StandingApprovalRow[] {
    const rows = ofSession(subject.sessionId);
    // SECURITY: a rule may have become `@approve("always")` under its old id since the answer was given.
    if (rows.size === 0 || sessionApprovalProblem(subject) !== undefined) return [];
    const grounds = toSessionBindingKey(subject);
    return [...rows.values()].filter(
      ({ bindingKey: given, coveredScope }) =>
        given === grounds &&
        coveredScope !== undefined &&
        coversScope(coveredScope, subject.scope, subject.inputDigest),
    );
  }

  return {
    list: () => [...all()].map(({ standing }) => standing).sort((a, b) => a.givenAtMs - b.givenAtMs),
    hasRoomFor: ({ standing: { scope, sessionId } }) =>
      scope === "rule" ? rules.size < MAX_RULES : ofSession(sessionId).size < MAX_PER_SESSION,
    add(row) {
      const { scope, sessionId, standingId } = row.standing;
      if (scope === "rule") {
        rules.set(standingId, row);
        return;
      }
      const rows = sessions.get(sessionId) ?? new Map<string, StandingApprovalRow>();
      sessions.set(sessionId, rows.set(standingId, row));
    },
    remove(standingId) {
      for (const row of all()) {
        const { scope, sessionId, standingId: id } = row.standing;
        if (id !== standingId) continue;
        (scope === "rule" ? rules : sessions.get(sessionId))?.delete(id);
        return row;
      }
      return undefined;
    },
    find: (subject) => covering(subject).find(({ files }) => filesKey(files) === filesKey(subject.files))?.standing,
    findChangedFiles: (subject) => [
      ...new Set(covering(subject).flatMap(({ files }) => changedFiles(files, subject.files))),
    ],
    findIdsByInput: (inputDigests) =>
      [...all()]
        .filter(({ coveredScope }) => coveredScope?.kind === "input" && inputDigests.has(coveredScope.digest))
        .map(({ standing }) => standing.standingId),
    endSession(sessionId) {
      const rows = [...ofSession(sessionId).keys()].map(removeRow);
      sessions.delete(sessionId);
      return rows;
    },
  };
}

const NONE: ReadonlyMap<string, StandingApprovalRow> = new Map();
