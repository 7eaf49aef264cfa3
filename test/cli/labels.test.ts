import assert from "node:assert/strict";
import { access, chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createHostedHome, objectOf, type Serving, type TestHome, textOf } from "./home.ts";

const code = (answer: JsonObject) => objectOf(answer["error"])["code"];
const ALONE = { ownProcess: true };
const isRoot = process.getuid?.() === 0;

describe("labels and released leases through a served kernel", { timeout: 240_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let session: { readonly id: string; readonly token: string };
  before(async () => {
    at = await createHostedHome();
    if (isRoot) await chown(at.workspace, 0, 0);
    serving = await at.serve();
    session = await at.openSession("--adopt", "--label", "secret", "--label", "own");
  });
  after(() => at.remove());

  it("a session has the labels it was opened with, and an invalid label opens none", async () => {
    const refused = objectOf(
      (await at.ask(["session", "open", "--workspace", at.workspace, "--label", "A b"], 4))["error"],
    );
    assert.equal(refused["code"], "INVALID_INPUT");
    assert.match(textOf(refused["message"]), /labels\[0\] must be .* lower-case letters/);
    assert.deepEqual((await at.ask(["session", "show", session.id]))["labels"], ["own", "secret"]);
    const listed = await at.run(["ledger", "list", "--session", session.id]);
    assert.match(listed.stdout, /labels own, secret/);
    if (isRoot) assert.match(listed.stdout, /which was root's and was handed over/);
  });

  it("labels show and clear work on a directory, and the ledger records who removed them", async () => {
    const nowhere = join(at.root, "nowhere");
    for (const command of ["show", "clear"]) {
      const refused = objectOf((await at.ask(["labels", command, nowhere], 4))["error"]);
      assert.equal(refused["code"], "WORKSPACE_REFUSED");
      assert.match(textOf(refused["message"]), /nowhere` does not exist/);
      assert.match(textOf(refused["next"]), /name the directory of a workspace/);
      assert.equal(code(await at.ask(["labels", command], 2)), "USAGE");
    }
    assert.deepEqual(await at.ask(["labels", "show", at.workspace]), { workspace: at.workspace, labels: [] });
    await at.ask(["call", "file_write", `{"path":"inside/a","content":"x"}`, "--session", session.id]);
    assert.deepEqual((await at.ask(["labels", "show", "workspace/inside"]))["labels"], ["own", "secret"]);
    assert.match((await at.run(["labels", "show", at.workspace])).stdout, /labels +own, secret/);
    assert.equal(code(await at.ask(["labels", "clear", "workspace/inside"], 4)), "WORKSPACE_REFUSED");
    assert.deepEqual(await at.ask(["labels", "clear", at.workspace, "--by", "ann"]), {
      workspace: at.workspace,
      by: "ann",
      labels: ["own", "secret"],
    });
    assert.deepEqual((await at.ask(["labels", "show", at.workspace]))["labels"], []);
    assert.match(
      (await at.run(["ledger", "list", "--session", "system"])).stdout,
      /labels taken off .*workspace by ann/,
    );
  });

  it("lease delegate grants content of its own session only", async () => {
    const file = join(at.root, "content");
    await writeFile(file, "for the child");
    const hash = textOf((await at.ask(["cas", "put", file, "--session", session.id]))["hash"]);
    const delegate = ["lease", "delegate", "--session", session.id, "--budget", "calls=5"];
    assert.equal(code(await at.ask([...delegate, "--grant", "abc"], 2)), "USAGE");
    assert.equal(code(await at.ask([...delegate, "--grant", "0".repeat(64)], 1)), "CONTENT_NOT_FOUND");
    assert.equal(code(await at.ask([...delegate, "--label", "\u001b[2J"], 4)), "INVALID_INPUT");
    const child = await at.ask([...delegate, "--grant", hash, "--label", "more"]);
    assert.deepEqual(child["labels"], ["more", "own", "secret"]);
    const got = await at.run(["cas", "get", hash, "--session", textOf(child["session_id"])]);
    assert.equal(got.stdout, "for the child");
  });

  it("lease release ends only leases delegated by the session", async () => {
    const lease = join(at.root, "lease.json");
    await writeFile(lease, JSON.stringify({ budgets: { calls: 10 } }));
    const parent = await at.openSession("--lease", lease);
    const child = await at.ask(["lease", "delegate", "--session", parent.id, "--budget", "calls=4"]);
    const [childId, leaseId] = [textOf(child["session_id"]), textOf(child["lease_id"])];
    await at.ask(["call", "echo", "1", "--session", childId]);
    const release = (id: string, from: string) => ["lease", "release", id, "--session", from];
    assert.equal(code(await at.ask(["lease", "release"], 2)), "USAGE");
    assert.equal(code(await at.ask(release(leaseId, session.id), 1)), "LEASE_NOT_FOUND");
    assert.equal(code(await at.ask(release(leaseId, childId), 4)), "INVALID_INPUT");
    assert.deepEqual(await at.ask(release(leaseId, parent.id)), {
      lease_id: leaseId,
      session_id: childId,
      budget_returned: { calls: 3 },
    });
    await assert.rejects(access(textOf(child["token_file"])));
    assert.equal(code(await at.ask(release(leaseId, parent.id), 1)), "LEASE_NOT_FOUND");
    assert.deepEqual((await at.ask(["session", "show", parent.id]))["budget_remaining"], { calls: 9 });
  });

  it("the commands work on the store itself too, and the ledger is sound", async () => {
    assert.equal(await serving.stop(), 0);
    await mkdir(join(at.root, "other"));
    assert.equal(code(await at.ask(["labels", "clear", "other"], 4)), "WORKSPACE_REFUSED");
    await at.ask(["call", "file_write", `{"path":"b","content":"x"}`, "--session", session.id]);
    assert.deepEqual((await at.ask(["labels", "show", at.workspace]))["labels"], ["own", "secret"]);
    assert.match(
      (await at.run(["labels", "clear", at.workspace], ALONE)).stdout,
      /^took own, secret off .*workspace\n$/,
    );
    const child = await at.ask(["lease", "delegate", "--session", session.id, "--label", "more"], 0, ALONE);
    assert.deepEqual(child["labels"], ["more", "own", "secret"]);
    const text = await at.run(["lease", "release", textOf(child["lease_id"]), "--session", session.id], ALONE);
    assert.match(text.stdout, /^released lea_[a-z2-7]{20}, closed ses_[a-z2-7]{20}; /);
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });
});
