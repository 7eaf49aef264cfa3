import type { StateChange } from "../ports.ts";
import type { StandingApproval } from "./approval.ts";
import { removeRow, type StandingRow } from "./approval-rows.ts";
import { fitsScope } from "./approval-scope.ts";
import { changedFiles, filesKey } from "./approved-files.ts";
import { whyNotForSession } from "./open-question.ts";
import { type ApprovalSubject, groundsOf } from "./approval-subject.ts";

/** SECURITY: what people said in one session stays bounded; a rule is theirs to take back. */
const MAX_PER_SESSION = 256;
const MAX_RULES = 10_000;

/** Answers that were given for longer than one call. */
export interface StandingAnswers {
  list(): readonly StandingApproval[];
  /** Whether there is room for one more. */
  hasRoomFor(row: StandingRow): boolean;
  add(row: StandingRow): void;
  /** Takes one out: it covers nothing from now on. */
  remove(standingId: string): StandingRow | undefined;
  /** One that covers this very call. */
  find(subject: ApprovalSubject): StandingApproval | undefined;
  /** Files because of which an answer that covered this very call does so no more. */
  changedFor(subject: ApprovalSubject): readonly string[];
  /** Those for exactly one of these inputs, as hex. */
  ofInputs(inputDigests: ReadonlySet<string>): readonly string[];
  /** Forgets what was said for a session, and gives the rows to be removed. */
  endSession(sessionId: string): StateChange[];
}

export function createStandingAnswers(): StandingAnswers {
  const rules = new Map<string, StandingRow>();
  /** By session, then by id. */
  const sessions = new Map<string, Map<string, StandingRow>>();
  const ofSession = (sessionId: string): ReadonlyMap<string, StandingRow> => sessions.get(sessionId) ?? NONE;

  function* all(): Generator<StandingRow> {
    yield* rules.values();
    for (const rows of sessions.values()) yield* rows.values();
  }

  /** Answers for such a call, whatever has become of the files they are bound to. */
  function covering(subject: ApprovalSubject): StandingRow[] {
    const rows = ofSession(subject.sessionId);
    // SECURITY: a rule may have become `@approve("always")` under its old id since the answer was given.
    if (rows.size === 0 || whyNotForSession(subject) !== undefined) return [];
    const grounds = groundsOf(subject);
    return [...rows.values()].filter(
      ({ grounds: given, kept }) =>
        given === grounds && kept !== undefined && fitsScope(kept, subject.scope, subject.inputDigest),
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
      const rows = sessions.get(sessionId) ?? new Map<string, StandingRow>();
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
    changedFor: (subject) => [...new Set(covering(subject).flatMap(({ files }) => changedFiles(files, subject.files)))],
    ofInputs: (inputDigests) =>
      [...all()]
        .filter(({ kept }) => kept?.kind === "input" && inputDigests.has(kept.digest))
        .map(({ standing }) => standing.standingId),
    endSession(sessionId) {
      const rows = [...ofSession(sessionId).keys()].map(removeRow);
      sessions.delete(sessionId);
      return rows;
    },
  };
}

const NONE: ReadonlyMap<string, StandingRow> = new Map();
