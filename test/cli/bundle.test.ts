import assert from "node:assert/strict";
import { chmod, chown, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createKernel } from "narthex";
import { createHostedHome, objectOf, objectsOf, type TestHome } from "./home.ts";

describe("narthex ledger export", { timeout: 300_000 }, () => {
  let at: TestHome;
  let [session, secretive] = ["", ""];
  let nowhere: readonly string[];
  const bundle = (name: string): string => join(at.root, `${name}.bundle`);
  const reportOf = (answer: JsonObject): JsonObject => objectOf(objectsOf(answer["sessions"])[0]);

  before(async () => {
    at = await createHostedHome();
    await chmod(at.root, 0o755);
    nowhere = ["--data", join(at.root, "nowhere")];
    await writeFile(join(at.workspace, ".env"), "PASSWORD=hunter2-and-more\n");
    await writeFile(join(at.workspace, "big.txt"), "a line\n".repeat(50_000));
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    const kernel = await createKernel({ data: at.home });
    const [one, other] = [
      await kernel.session({ workspace: at.workspace }),
      await kernel.session({ workspace: join(at.root, "workspace") }),
    ];
    [session, secretive] = [one.id, other.id];
    for (const [tool, input] of [
      ["echo", { a: 1 }],
      ["read_file", { path: "big.txt" }],
      ["file_write", { path: "made.txt", content: "made" }],
      ["file_edit", { path: "made.txt", old_content: "ma", new_content: "fa" }],
      ["shell_exec", { command: "ls" }],
    ] as const) {
      assert.equal((await one.call(tool, input)).status, "success", tool);
    }
    assert.equal((await other.call("read_file", { path: ".env" })).status, "success");
    await other.call("echo", { told: "hunter2-and-more" });
    await kernel.close();
    await at.ask(["ledger", "checkpoint"]);
    await at.ask(["ledger", "export", "--session", session, bundle("one")], 0, { ownProcess: true });
  });
  after(() => at.remove());

  it("writes one private file, the same bytes each time, and overwrites nothing", async () => {
    await at.ask(["ledger", "export", "--session", session, bundle("again")]);
    assert.deepEqual(await readFile(bundle("one")), await readFile(bundle("again")));
    assert.equal((await stat(bundle("one"))).mode & 0o777, 0o600);
    assert.equal((await at.run(["ledger", "export", bundle("one")])).code, 4);
    const unknown = ["ledger", "export", "--session", "ses_aaaaaaaaaaaaaaaaaaaa", bundle("none")];
    assert.equal((await at.run(unknown)).code, 3);
    await assert.rejects(stat(bundle("none")), { code: "ENOENT" });
  });

  it("produces a file that verifies and replays without a home, proven by the signed checkpoint", async () => {
    const answer = await at.ask(["replay", bundle("one"), ...nowhere], 0, { ownProcess: true });
    const verified = objectOf(answer["verified"]);
    assert.deepEqual([verified["intact"], verified["complete"], verified["chains"]], [true, true, 1]);
    assert.equal(verified["unproven_tail"], 0);
    const report = reportOf(answer);
    assert.deepEqual([report["clean"], report["calls"], report["ran"], report["verified"]], [true, 5, 4, true]);
    assert.equal(report["content_digest"], reportOf(await at.ask(["replay", session]))["content_digest"]);
    await assert.rejects(stat(join(at.root, "nowhere")), { code: "ENOENT" });
  });

  it("contains no labelled secret, only its hash, for a session and for the whole ledger, through a serving kernel too", async () => {
    const serving = await at.serve();
    await at.ask(["ledger", "export", bundle("all")]);
    await at.ask(["ledger", "export", "--session", secretive, bundle("secretive")]);
    assert.equal(await serving.stop(), 0);
    for (const name of ["all", "secretive"]) assert.ok(!(await readFile(bundle(name))).includes("hunter2"), name);
    const answer = await at.ask(["replay", bundle("secretive"), ...nowhere]);
    assert.ok(Number(objectOf(answer["verified"])["left_out_items"]) > 0);
    const report = reportOf(answer);
    assert.equal(report["clean"], true);
    assert.deepEqual(objectsOf(report["served_by"]), [{ reason: "left_out", count: 2 }]);
  });

  it("is rejected with 20 or 30 if it was changed, truncated, or is another file", async () => {
    const bytes = await readFile(bundle("one"));
    const changed = Buffer.from(bytes);
    const place = changed.indexOf("file_write");
    changed.write("file_wrote", place);
    await writeFile(bundle("changed"), changed);
    await writeFile(bundle("cut"), bytes.subarray(0, bytes.length - 100));
    await writeFile(bundle("other"), "no bundle at all, but long enough to be looked at. ".repeat(50));
    for (const [command, name, code] of [
      [["ledger", "verify"], "changed", 20],
      [["replay"], "changed", 20],
      [["ledger", "verify"], "cut", 30],
      [["replay"], "other", 30],
    ] as const) {
      const { code: found, stderr } = await at.run([...command, bundle(name), ...nowhere]);
      assert.equal(found, code, `${name}: ${stderr}`);
    }
  });
});
