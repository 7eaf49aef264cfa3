import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createHostedHome, createTestHome, objectOf, type Serving, type TestHome, textOf } from "./home.ts";

const code = (answer: Record<string, unknown>) => objectOf(answer["error"] as never)["code"];

describe("leases without a kernel", { timeout: 60_000 }, () => {
  it("invalid input is a usage error, and a token is never an argument", async () => {
    const at = await createHostedHome();
    const session = ["lease", "delegate", "--session", "ses_aaaaaaaaaaaaaaaaaaaa"];
    const wrong = [
      [...session, "--budget", "calls"],
      [...session, "--budget", "calls=-1"],
      [...session, "--budget", "calls=1=2"],
      [...session, "--budget", "calls=NaN"],
      [...session, "--capability", "{"],
      [...session, "--ttl", "soon"],
      [...session, "--seed", "00"],
      ["lease", "delegate", "--session", "ntx_secret"],
      ["lease", "show", "lea_aaaaaaaaaaaaaaaaaaaa", "--session", "ses_aaaaaaaaaaaaaaaaaaaa"],
      ["lease", "revoke"],
    ];
    for (const command of wrong) assert.equal(code(await at.ask(command, 2)), "USAGE", command.join(" "));
    await at.remove();
  });
});

describe("leases through a served kernel", { timeout: 120_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let parent: { readonly id: string; readonly token: string };
  before(async () => {
    at = await createHostedHome();
    serving = await at.serve();
    const lease = join(at.root, "lease.json");
    await writeFile(lease, JSON.stringify({ budgets: { calls: 20, cost_units: 100 } }));
    parent = await at.openSession("--lease", lease, "--agent", "lead");
  });
  after(async () => {
    assert.equal(await serving.stop(), 0);
    await at.remove();
  });

  it("lease delegate reports 4 for a lease beyond the parent and 3 for a missing session", async () => {
    const delegate = (...options: string[]) => ["lease", "delegate", "--session", parent.id, ...options];
    const refused = objectOf(
      (await at.ask(delegate("--tools", "echo,nothing_known", "--budget", "calls=21"), 4))["error"],
    );
    assert.equal(refused["code"], "LEASE_INVALID");
    assert.match(textOf(refused["message"]), /tool_patterns.*nothing_known.*budgets\.calls.*asks for 21.*20 left/);
    assert.equal(code(await at.ask(delegate("--budget", "shoes=1"), 4)), "LEASE_INVALID");
    assert.equal(code(await at.ask(delegate("--cwd", "../.."), 4)), "INVALID_INPUT");
    assert.equal(
      code(await at.ask(["lease", "delegate", "--session", "ses_aaaaaaaaaaaaaaaaaaaa"], 3)),
      "SESSION_UNKNOWN",
    );
  });

  it("lease delegate opens a narrower session whose token is kept, and lease show shows both ends", async () => {
    const right = JSON.stringify({ kind: "fs_read", prefixes: [at.workspace] });
    const rights = ["--tools", "echo,hash", "--tier", "read_only", "--capability", right];
    const budgets = ["--budget", "calls=5", "--budget", "cost_units=50", "--ttl", "30m"];
    const asked = ["lease", "delegate", "--session", parent.id, "--agent", "helper"];
    const child = await at.ask([...asked, ...rights, ...budgets]);
    const childId = textOf(child["session_id"]);
    assert.deepEqual([child["parent_session_id"], child["agent"]], [parent.id, "helper"]);
    assert.deepEqual(child["budget_remaining"], { calls: 5, cost_units: 50 });
    const file = textOf(child["token_file"]);
    assert.equal((await readFile(file, "utf8")).trim(), child["token"]);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    await at.ask(["call", "echo", "1", "--session", childId]);
    const denied = await at.ask(["call", "file_list", `{"path":"."}`, "--session", childId], 3);
    assert.match(JSON.stringify(denied), /LEASE_SCOPE/);

    const own = await at.ask(["lease", "show", "--session", childId]);
    assert.deepEqual([own["state"], own["session_id"], own["child_lease_ids"]], ["active", childId, []]);
    assert.deepEqual(own["budget_remaining"], { calls: 4, cost_units: 49 });
    assert.deepEqual(objectOf(own["lease"])["tool_patterns"], ["echo", "hash"]);
    const above = await at.ask(["lease", "show", textOf(own["parent_lease_id"])]);
    assert.deepEqual([above["session_id"], above["child_lease_ids"]], [parent.id, [own["lease_id"]]]);
    assert.deepEqual(above["budget_remaining"], { calls: 15, cost_units: 50 });
    assert.deepEqual((await at.ask(["session", "show", parent.id]))["budget_remaining"], {
      calls: 15,
      cost_units: 50,
    });
    const text = await at.run(["lease", "show", "--session", childId]);
    assert.match(text.stdout, /split off +lea_/);

    await at.ask(["session", "close", childId]);
    assert.deepEqual((await at.ask(["session", "show", parent.id]))["budget_remaining"], {
      calls: 19,
      cost_units: 99,
    });
    assert.equal((await at.ask(["lease", "show", textOf(own["lease_id"])]))["state"], "expired");
  });

  it("a session delegates its lease by its own token, from a file or the environment", async () => {
    const file = join(at.root, "token");
    await writeFile(file, parent.token, { mode: 0o600 });
    const budget = ["--budget", "calls=1", "--budget", "cost_units=1"];
    const first = await at.ask(["lease", "delegate", "--session", `@${file}`, ...budget]);
    const env = { NARTHEX_TOKEN: parent.token };
    const second = await at.ask(["lease", "delegate", ...budget], 0, { env });
    for (const child of [first, second]) {
      assert.equal(child["parent_session_id"], parent.id);
      await at.ask(["session", "close", textOf(child["session_id"])]);
    }
  });

  it("lease revoke revokes a lease with all below it, and the ledger records who and why", async () => {
    const top = await at.ask([
      "lease",
      "delegate",
      "--session",
      parent.id,
      "--budget",
      "calls=5",
      "--budget",
      "cost_units=5",
    ]);
    const topId = textOf(top["session_id"]);
    const below = await at.ask(["lease", "delegate", "--session", topId, "--budget", "calls=2"]);
    assert.equal(code(await at.ask(["lease", "revoke", "lea_aaaaaaaaaaaaaaaaaaaa"], 1)), "LEASE_NOT_FOUND");
    const leaseIds = [top["lease_id"], below["lease_id"]];
    const revoked = await at.ask(["lease", "revoke", textOf(top["lease_id"]), "--reason", "over", "--by", "ann"]);
    assert.deepEqual(revoked, { lease_ids: leaseIds, cancelled_calls: 0, reason: "over", by: "ann" });
    for (const { session_id } of [top, below]) {
      const denied = await at.ask(["call", "echo", "1", "--session", textOf(session_id)], 3);
      assert.match(JSON.stringify(denied), /LEASE_REVOKED/);
    }
    await at.ask(["call", "echo", "1", "--session", parent.id]);
    const text = await at.run(["ledger", "list", "--session", textOf(below["session_id"])]);
    assert.match(text.stdout, /revoked by ann: over/);
    assert.equal((await at.ask(["lease", "show", textOf(below["lease_id"])]))["state"], "revoked");
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
  });
});

describe("leases on the store itself", { timeout: 120_000 }, () => {
  it("are delegated, shown and revoked without a running kernel, and persist between commands", async () => {
    const at = await createTestHome();
    const parent = await at.openSession();
    const child = await at.ask(["lease", "delegate", "--session", parent.id, "--tools", "echo", "--budget", "calls=5"]);
    const childId = textOf(child["session_id"]);
    const leaseId = textOf(child["lease_id"]);
    await at.ask(["call", "echo", "1", "--session", childId]);
    assert.deepEqual((await at.ask(["lease", "show", leaseId]))["budget_remaining"], { calls: 4 });
    assert.deepEqual((await at.ask(["lease", "revoke", leaseId]))["lease_ids"], [leaseId]);
    const denied = await at.ask(["call", "echo", "1", "--session", childId], 3);
    assert.match(JSON.stringify(denied), /LEASE_REVOKED/);
    await at.remove();
  });
});
