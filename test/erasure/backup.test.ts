import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "@narthex/contracts";
import { createKernel } from "narthex";
import { createHostedHome, objectOf, objectsOf, type TestHome, textOf } from "../cli/home.ts";

describe("narthex backup and restore", { timeout: 240_000 }, () => {
  let at: TestHome;
  let backup: string;
  let session: { readonly id: string; readonly token: string };
  before(async () => {
    at = await createHostedHome();
    backup = join(at.root, "backup");
  });
  after(() => at.remove());

  const codeOf = (answer: JsonObject): unknown => objectOf(answer["error"])["code"];
  const restore = (from: string, home: string, code = 0): Promise<JsonObject> =>
    at.ask(["restore", from, "--data", home], code);

  it("copies a home in use without stopping calls, and the copy verifies by itself", async (t) => {
    const kernel = await createKernel({ data: at.home });
    t.after(() => kernel.close());
    const { session: opened, token } = await kernel.openSession({ workspace: at.workspace });
    session = { id: opened.session.id, token };
    const call = (number: number) =>
      kernel.callInProcess({ token, tool: "echo", input: { number, text: "x".repeat(number) } });
    await call(100_000);
    let isOver = false;
    let calls = 0;
    const calling = (async () => {
      while (!isOver) assert.equal((await call(++calls)).status, "success");
    })();
    // By the wire: the kernel that holds the home is asked.
    const copy = await at.ask(["backup", backup], 0, { ownProcess: true }).finally(() => (isOver = true));
    const during = calls;
    await calling;
    assert.ok(during > 0 && Number(copy["records"]) > 1);
    assert.deepEqual([copy["files"], copy["with_keys"]], [1, false]);
    await assert.rejects(kernel.backUp({ directory: backup, withKeys: false }), /there already/);
    await assert.rejects(kernel.backUp({ directory: join(at.home, "inside"), withKeys: false }), /outside/);
    const names = (await readdir(backup)).sort();
    assert.deepEqual(names, ["backup.json", "content", "log", "narthex.yaml", "policy", "store"]);
    assert.deepEqual((await readdir(join(backup, "store"))).sort(), ["records.db"]);
    // What was written after it is not in it.
    const records = new DatabaseSync(join(backup, "store/records.db"), { readOnly: true });
    assert.equal(records.prepare("SELECT count(*) AS n FROM records").get()?.["n"], copy["records"]);
    records.close();
  });

  it("rejects a file that is not a backup, a home that is not empty, and a changed backup", async () => {
    assert.equal(codeOf(await restore(at.workspace, join(at.root, "h1"), 20)), "BACKUP_INVALID");
    assert.equal(codeOf(await restore(backup, at.home, 4)), "INVALID_INPUT");
    const broken = join(at.root, "broken");
    await cp(backup, broken, { recursive: true });
    const [folder = ""] = (await readdir(join(broken, "content"))).filter((name) => name !== "tmp");
    await rm(join(broken, "content", folder), { recursive: true });
    assert.equal(codeOf(await restore(broken, join(at.root, "h2"), 20)), "BACKUP_INVALID");
    await rm(broken, { recursive: true });
    await cp(backup, broken, { recursive: true });
    const records = new DatabaseSync(join(broken, "store/records.db"));
    records.exec("DELETE FROM records WHERE idx = (SELECT max(idx) FROM records)");
    records.close();
    const cut = await restore(broken, join(at.root, "h2"), 20);
    assert.match(textOf(objectOf(cut["error"])["message"]), /does not hold the records/);
    // Nothing is left of what was refused.
    assert.deepEqual(
      (await readdir(at.root)).filter((name) => /^h[12]|partial/.test(name)),
      [],
    );
  });

  it("restores a backup: the ledger verifies, and nothing granted once can be used again", async () => {
    const home = join(at.root, "restored");
    await mkdir(home);
    const restored = await at.ask(["restore", backup, "--data", home], 0, { ownProcess: true });
    const inRestored = (...args: string[]): Promise<JsonObject> => at.ask([...args, "--data", home]);
    const report = await inRestored("ledger", "verify");
    assert.deepEqual([report["intact"], report["complete"], report["records"]], [true, true, restored["records"]]);
    const sessions = objectsOf((await inRestored("session", "list", "--all"))["sessions"]);
    assert.deepEqual(
      sessions.map(({ state }) => state),
      ["closed"],
    );
    const token = join(at.root, "token");
    await writeFile(token, session.token, { mode: 0o600 });
    const refused = await at.ask(["call", "echo", "{}", "--session", `@${token}`, "--data", home], 3);
    assert.match(JSON.stringify(refused), /SESSION_CLOSED/);
    const opened = await inRestored("session", "open", "--workspace", at.workspace);
    assert.ok(textOf(opened["session_id"]).startsWith("ses_"));
    assert.equal((await inRestored("ledger", "verify"))["intact"], true);
    const policy = join(home, "policy");
    for (const name of await readdir(policy)) {
      assert.equal(await readFile(join(policy, name), "utf8"), await readFile(join(at.home, "policy", name), "utf8"));
    }
  });
});
