import assert from "node:assert/strict";
import { mock } from "node:test";
import { createTestRandom } from "@narthex/testkit";
import type { RecordDraft } from "../../ledger/record-draft.ts";
import type { Approver, PolicyRules, StateChange } from "../../ports.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalResolution } from "../approval.ts";
import type { ApprovalOutcome } from "../approval-outcome.ts";
import type { ApprovalSubject } from "../approval-subject.ts";
import type { Approvals } from "../approvals-api.ts";
import { createApprovals } from "../approvals.ts";
import { subject } from "./example-subject.ts";

mock.timers.enable({ apis: ["setTimeout"] });

export const EXPIRY_MS = 1000;
export const WAIT_MS = 100;
export const APPROVED = { approved: true, approver: "ann" };

export { subject };

interface Asked {
  readonly question: ApprovalRequest;
  readonly signal: AbortSignal;
  answer(answer: ApprovalDecision): Promise<void>;
}

interface TestApprovalsOptions {
  /** Without an approver callback. */
  readonly isSilent?: boolean;
  readonly door?: string;
  readonly rules?: PolicyRules;
}

export function create({ isSilent = false, door = "test", rules }: TestApprovalsOptions = {}) {
  let nowMs = 1_000_000;
  const asked: Asked[] = [];
  const drafts: RecordDraft[] = [];
  const disk = { isBroken: false };
  const rows = new Map<string, Uint8Array>();
  const keep = (changes: readonly StateChange[]): void => {
    for (const { key, value } of changes) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
  };
  const approver: Approver = {
    door,
    ask(question, signal) {
      const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
      const answer = async (given: ApprovalDecision) => {
        resolve(given);
        await settled();
      };
      asked.push({ question, signal, answer });
      return promise;
    },
  };
  const make = (): Approvals =>
    createApprovals({
      approver: isSilent ? undefined : approver,
      rules,
      random: createTestRandom("approvals"),
      nowMs: () => nowMs,
      async append(draft) {
        if (disk.isBroken) throw new Error("the disk is gone");
        drafts.push(draft);
        keep(typeof draft.state === "function" ? draft.state(0) : (draft.state ?? []));
        return { index: drafts.length, hash: new Uint8Array(32), wallTimeMs: nowMs };
      },
      expiryMs: EXPIRY_MS,
      waitMs: WAIT_MS,
    });
  const pass = async (ms: number) => {
    nowMs += ms;
    mock.timers.tick(ms);
    await settled();
  };
  const store = {
    listState: async () => [...rows].map(([key, value]) => ({ key, value })),
  };
  return { approvals: make(), restart: make, store, rows, keep, asked, drafts, disk, pass };
}

type TestApprovals = ReturnType<typeof create>;

async function settled(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

export async function ask(
  { approvals, keep }: Pick<TestApprovals, "approvals" | "keep">,
  about: Partial<ApprovalSubject> = {},
  wait: { signal?: AbortSignal; waitMs?: number } = {},
) {
  const answer = approvals.ask(
    { ...subject, ...about },
    {
      signal: wait.signal,
      waitMs: wait.waitMs ?? Number.POSITIVE_INFINITY,
      requested: async ({ row }) => keep([row]),
    },
  );
  answer.catch(() => undefined);
  await settled();
  return { answer };
}

export const last = (asked: readonly Asked[]): Asked => asked.at(-1) ?? assert.fail("nobody was asked");
export const openIds = (approvals: Approvals): string[] => approvals.list().open.map(({ approvalId }) => approvalId);
export const onlyId = (approvals: Approvals): string => openIds(approvals)[0] ?? assert.fail("no question is open");

export const answering = (approvalId: string, answer: ApprovalResolution["answer"] = "once", more = {}) => ({
  approvalId,
  answer,
  approver: "ann",
  door: "cli",
  ...more,
});

export const isCode = (code: string) => (fault: unknown) =>
  fault instanceof Error && "code" in fault && fault.code === code;

export async function outcomeOf(asking: Promise<ApprovalOutcome | undefined>): Promise<ApprovalOutcome> {
  return (await asking) ?? assert.fail("nobody was asked");
}
