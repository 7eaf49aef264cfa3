import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createTestRandom } from "@narthex/testkit";
import type { EntryDraft } from "../ledger/record-draft.ts";
import type { PolicyRules, StateChange } from "../ports.ts";
import type { ApprovalResolution } from "./approval.ts";
import type { CommandScope } from "./approval-scope.ts";
import type { ApprovalSubject } from "./approval-subject.ts";
import type { Approvals } from "./approvals-api.ts";
import { createApprovals } from "./approvals.ts";
import { subject as example } from "./testing/example-subject.ts";

const desks: Approvals[] = [];
afterEach(async () => void (await Promise.all(desks.splice(0).map((desk) => desk.close()))));

const scope: CommandScope = {
  kind: "command",
  words: ["npm", "run", "test"],
  line: "npm run test",
  directory: "",
  network: false,
};

const subject: ApprovalSubject = {
  ...example,
  tool: "shell_exec@1.0.0",
  action: "shell_exec",
  input: { command: "npm run test" },
  scope,
};

const NO_RULES: PolicyRules = {
  addRule: async () => undefined,
  hasRule: async () => true,
  removeRule: async () => undefined,
};

/** Another call of the same kind. */
const like = (more: Partial<ApprovalSubject> = {}): ApprovalSubject => ({
  ...subject,
  inputDigest: new Uint8Array(32).fill(7),
  ...more,
});

function create(rules?: PolicyRules) {
  const rows = new Map<string, Uint8Array>();
  const entries: EntryDraft[] = [];
  const keep = (changes: readonly StateChange[]): void => {
    for (const { key, value } of changes) {
      if (value === undefined) rows.delete(key);
      else rows.set(key, value);
    }
  };
  const make = () =>
    createApprovals({
      approver: undefined,
      rules,
      random: createTestRandom("standing"),
      nowMs: () => 1000,
      async append(draft) {
        entries.push(...draft.entries);
        keep(typeof draft.state === "function" ? draft.state(0) : (draft.state ?? []));
        return { index: 0, hash: new Uint8Array(32), wallTimeMs: 0 };
      },
      expiryMs: 60_000,
      waitMs: 60_000,
    });
  const approvals = make();
  desks.push(approvals);
  approvals.openDoor();
  return {
    approvals,
    rows,
    entries,
    restart: make,
    store: { listState: async () => [...rows].map(([key, value]) => ({ key, value })) },
    async answer(answer: ApprovalResolution["answer"], more: Partial<ApprovalResolution> = {}, about = subject) {
      const wait = { signal: undefined, waitMs: 1e9, requested: async () => undefined };
      const asking = approvals.ask(about, wait);
      asking.catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      const approvalId = approvals.list().open.at(-1)?.approvalId ?? assert.fail("nobody was asked");
      const resolved = await approvals.resolve({ approvalId, answer, approver: "ann", door: "cli", ...more });
      // The call that asked uses its yes.
      await asking;
      keep([approvals.removeConsumed(approvalId)]);
      return resolved;
    },
  };
}

test("a session approval covers no other session, tool, definition, rules, kind, words, place or network", async () => {
  const { approvals, answer } = create();
  await answer("session");
  const others: readonly Partial<ApprovalSubject>[] = [
    { sessionId: "ses_b" },
    { tool: "shell_spawn@1.0.0" },
    { definitionHash: new Uint8Array(32).fill(9) },
    { ruleIds: ["other"] },
    { kind: "console" },
    { scope: undefined },
    { scope: { ...scope, words: ["npm", "run"] } },
    { scope: { ...scope, words: ["npm", "run", "test", "--", "x"] } },
    { scope: { ...scope, words: ["npm", "run test"] } },
    { scope: { ...scope, directory: "sub" } },
    { scope: { ...scope, network: true } },
  ];
  for (const other of others) assert.equal(approvals.claimApproval(like(other)), undefined, JSON.stringify(other));
  const given = approvals.claimApproval(like());
  assert.deepEqual([given?.status, given?.term, given?.door, given?.approver], ["approved", "session", "cli", "ann"]);
});

test("a shorter command prefix covers what begins with it, only if a person chose it, and never the program alone", async () => {
  for (const words of [0, 1, 4, -1, 1.5, Number.NaN]) {
    await assert.rejects(create().answer("session", { words }), /2 to 3/);
  }
  const { approvals: desk, answer: give } = create();
  await give("session", { words: 2 });
  const words = (...list: string[]) => desk.claimApproval(like({ scope: { ...scope, words: list } }));
  assert.ok(words("npm", "run", "lint"));
  assert.ok(words("npm", "run"));
  for (const list of [["npm"], ["npm", "publish"], ["npm", "running"], ["npm run", "test"]]) {
    assert.equal(words(...list), undefined, list.join(" "));
  }
});

test("accepts a number of words only for commands and for session approvals", async () => {
  const { answer } = create();
  await assert.rejects(answer("once", { words: 2 }), /session/);
  await assert.rejects(answer("session", { words: 2 }, { ...subject, scope: undefined }), /no words/);
});

test("a call without a scope is covered for exactly its input", async () => {
  const { approvals, answer } = create();
  const about = { ...subject, scope: undefined };
  const { standing } = await answer("session", {}, about);
  assert.equal(standing?.allows, `this call again, with exactly this input: ${JSON.stringify(about.input)}`);
  assert.equal(approvals.claimApproval(like({ scope: undefined })), undefined);
  assert.equal(approvals.claimApproval(like()), undefined);
  assert.ok(approvals.claimApproval(about));
});

test("lists and responses say whether a caller waits for a request", async () => {
  const { approvals } = create();
  const wait = { signal: undefined, waitMs: 0, requested: async () => undefined };
  assert.equal((await approvals.ask(subject, wait))?.status, "pending");
  const [left] = approvals.list().open;
  assert.equal(left?.isAwaited, false);
  const joined = approvals.ask(subject, { ...wait, waitMs: 60_000 });
  assert.equal(approvals.list().open[0]?.isAwaited, true);
  const resolution = { approvalId: left.approvalId, answer: "once", approver: "ann", door: "cli" } as const;
  assert.equal((await approvals.resolve(resolution)).isAwaited, true);
  assert.equal((await joined)?.status, "approved");

  await approvals.ask(subject, wait);
  const approvalId = approvals.list().open[0]?.approvalId ?? "";
  assert.equal((await approvals.resolve({ ...resolution, approvalId })).isAwaited, false);
});

test("an approval for a path or host covers that path or host and no other", async () => {
  const { approvals, answer } = create();
  await answer("session", {}, { ...subject, scope: { kind: "path", paths: ["a.txt"] } });
  const host = { kind: "host", host: "example.com", port: 443, sends: false } as const;
  await answer("session", {}, { ...subject, scope: host });
  assert.ok(approvals.claimApproval(like({ scope: { kind: "path", paths: ["a.txt"] } })));
  assert.ok(approvals.claimApproval(like({ scope: host })));
  for (const other of [
    { kind: "path", paths: ["a.txt/b"] },
    { kind: "path", paths: ["A.txt"] },
    { kind: "path", paths: ["a.txt", "b"] },
    { ...host, host: "sub.example.com" },
    { ...host, port: 80 },
    { ...host, sends: true },
  ] as const) {
    assert.equal(approvals.claimApproval(like({ scope: other })), undefined, JSON.stringify(other));
  }
});

test("a session approval survives a restart, but not its revocation or the end of its session", async () => {
  const { approvals, answer, restart, store, rows, entries } = create();
  const { standing } = await answer("session");
  const second = restart();
  await second.recover(store);
  assert.deepEqual(second.list().standing, [standing]);
  assert.ok(second.claimApproval(like()));

  const standingId = standing?.standingId ?? "";
  const revoked = await Promise.allSettled([1, 2].map(() => second.revoke({ standingId, by: "bob" })));
  assert.deepEqual(
    revoked.map(({ status }) => status),
    ["fulfilled", "rejected"],
  );
  assert.equal(second.claimApproval(like()), undefined);
  assert.deepEqual(entries.at(-1), { case: "standingApprovalRevoked", value: { standingId, by: "bob" } });
  assert.equal(rows.size, 0);
  const third = restart();
  await third.recover(store);
  assert.deepEqual(third.list().standing, []);

  const gone = await approvals.endSession("ses_a");
  assert.deepEqual(gone, [{ table: "approvals", key: standingId, value: undefined }]);
  assert.equal(approvals.claimApproval(like()), undefined);
});

test("revoking also removes an unused approval", async () => {
  const { approvals } = create();
  const asking = approvals.ask(subject, { signal: undefined, waitMs: 0, requested: async () => undefined });
  assert.equal((await asking)?.status, "pending");
  const approvalId = approvals.list().open[0]?.approvalId ?? "";
  const { standing } = await approvals.resolve({ approvalId, answer: "session", approver: "ann", door: "cli" });
  await approvals.revoke({ standingId: standing?.standingId ?? "", by: "ann" });
  assert.equal(approvals.claimApproval(subject), undefined);
});

test("the ledger records what a standing approval allows", async () => {
  const { answer, entries } = create({ ...NO_RULES });
  const { standing } = await answer("session", { words: 2 });
  const [given] = entries;
  assert.ok(given?.case === "approvalResolved");
  assert.deepEqual(
    [given.value.answer, given.value.scope, given.value.standingId],
    ["approved", "session", standing?.standingId],
  );
  assert.deepEqual(JSON.parse(String(given.value.allows)), {
    kind: "command_prefix",
    words: ["npm", "run"],
    directory: "",
    network: false,
  });
  const { standing: rule } = await answer("rule");
  const asRule = entries.at(-1);
  assert.ok(asRule?.case === "approvalResolved");
  assert.deepEqual([asRule.value.scope, asRule.value.allows], ["rule", rule?.allows]);
});

test("rejects an approval by rule when no rule can be written, and the request stays open", async () => {
  const { approvals, answer } = create();
  await assert.rejects(answer("rule"), /nowhere to write rules/);
  assert.equal(approvals.list().open.length, 1);
  assert.equal(approvals.list().open[0]?.ruleText, "");
});

test("shows a rule before the approval, writes it once recorded, and removes it on revocation", async () => {
  const written = new Map<string, string>();
  const seen: number[] = [];
  const desk = create({
    async addRule(id, text) {
      seen.push(desk.entries.length);
      written.set(id, text);
    },
    hasRule: async (id) => written.has(id),
    removeRule: async (id) => void written.delete(id),
  });
  const { standing } = await desk.answer("rule");
  const [[id, text] = ["", ""]] = written;
  assert.equal(id, `approved-${standing?.approvalId}`);
  assert.equal(standing?.allows, text);
  assert.match(
    text,
    /^@id\("approved-apr_[a-z2-7]{20}"\)\n@approve\("none"\)\npermit\(principal == Agent::"agent", action == Action::"shell_exec"/,
  );
  assert.deepEqual(seen, [1], "the answer was in the ledger before there was a rule");
  assert.deepEqual(desk.approvals.claimApproval(like()), undefined, "the policy speaks for it now, not the desk");
  await desk.approvals.revoke({ standingId: standing?.standingId ?? "", by: "ann" });
  assert.equal(written.size, 0);
});

test("a rule that cannot be written still approves this call, and reports the failure", async () => {
  const desk = create({
    ...NO_RULES,
    addRule: () => Promise.reject(new Error("line 3: unknown attribute")),
    removeRule: () => Promise.reject(new Error("read-only disk")),
  });
  await assert.rejects(desk.answer("rule"), /approved, once; .*unknown attribute/);
  assert.deepEqual(desk.approvals.list().standing, []);
  assert.equal(desk.entries.at(-1)?.case, "standingApprovalRevoked");
});

test("a rule that cannot be removed stays listed", async () => {
  const desk = create({
    ...NO_RULES,
    removeRule: () => Promise.reject(new Error("read-only disk")),
  });
  const { standing } = await desk.answer("rule");
  await assert.rejects(desk.approvals.revoke({ standingId: standing?.standingId ?? "", by: "ann" }), /read-only/);
  assert.equal(desk.approvals.list().standing.length, 1);
});
