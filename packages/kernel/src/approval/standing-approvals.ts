import type { StateChange } from "../ports.ts";
import type { StandingApproval } from "./approval.ts";
import { removeRow, type StandingApprovalRow } from "./approval-rows.ts";
import { coversScope } from "./approval-scope.ts";
import { changedFiles, filesKey } from "./approved-files.ts";
import { sessionApprovalProblem } from "./pending-approval.ts";
import { type ApprovalSubject, toSessionBindingKey } from "./approval-subject.ts";

/** SECURITY: bounds the standing approvals of one session. Rules stay until a user revokes them. */
const MAX_PER_SESSION = 256;
const MAX_RULES = 10_000;

/** Approvals that were granted for longer than one call. */
export interface StandingApprovals {
  list(): readonly StandingApproval[];
  /** Whether one more fits within the limits. */
  hasRoomFor(row: StandingApprovalRow): boolean;
  add(row: StandingApprovalRow): void;
  /** Removes an approval: it covers nothing from now on. */
  remove(standingId: string): StandingApprovalRow | undefined;
  /** Returns a standing approval that covers this exact call. */
  find(subject: ApprovalSubject): StandingApproval | undefined;
  /** Returns the changed files because of which an approval no longer covers this call. */
  findChangedFiles(subject: ApprovalSubject): readonly string[];
  /** Returns the ids of approvals for exactly one of these inputs, given as hex. */
  findIdsByInput(inputDigests: ReadonlySet<string>): readonly string[];
  /** Forgets the approvals of a session, and returns the rows to remove. */
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

  /** Returns the approvals for such a call, even if the files they are bound to have changed. */
  function covering(subject: ApprovalSubject): StandingApprovalRow[] {
    const rows = ofSession(subject.sessionId);
    // SECURITY: since the approval was granted, a rule may have become `@approve("always")` under the same id.
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
