import assert from "node:assert/strict";
import { chmod, chown, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { type JsonObject, toHex } from "@narthex/contracts";
import { createKernel, defineTool } from "narthex";
import { createHostedHome, objectOf, objectsOf, type Serving, type TestHome, textOf } from "./home.ts";

/** As root, programs work as whoever owns the workspace, who must not be root. */
async function openHome(): Promise<TestHome> {
  const at = await createHostedHome();
  await chmod(at.root, 0o755);
  if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
  return at;
}

const reportOf = (answer: JsonObject): JsonObject => objectOf(objectsOf(answer["sessions"])[0]);
const reasonsOf = (report: JsonObject): Record<string, unknown> =>
  Object.fromEntries(objectsOf(report["served_by"]).map(({ reason, count }) => [textOf(reason), count]));

describe("narthex replay", { timeout: 300_000 }, () => {
  let at: TestHome;
  let serving: Serving;
  let session: string;
  let report: JsonObject;

  before(async () => {
    at = await openHome();
    const kernel = await createKernel({ data: at.home });
    const opened = await kernel.session({ workspace: at.workspace, seed: new Uint8Array(32).fill(7) });
    session = opened.id;
    const call = async (tool: string, input: JsonObject, status = "success"): Promise<string> => {
      const answer = await opened.callTool(tool, input);
      assert.equal(answer.status, status, tool);
      return toHex(answer.hash ?? new Uint8Array());
    };
    await mkdir(join(at.workspace, "docs"));
    await symlink("docs", join(at.workspace, "link"));
    await writeFile(join(at.workspace, "docs", "long.txt"), `${"some line\n".repeat(9000)}the end\n`);
    if (process.getuid?.() === 0) await chown(join(at.workspace, "docs"), 1000, 1000);
    // Every file tool, and every class of determinism.
    await call("echo", { a: 1 });
    const hash = await call("hash", { data: "some data" });
    await call("hash", { content_hash: hash });
    await call("result_read", { hash: hash, offset: 3 });
    await call("file_write", { path: "new/deep/one.txt", content: "one\ntwo\nthree\n" });
    await call("file_write", { path: "new/deep/one.txt", content: "four\n", append: true });
    await call("read_file", { path: "new/deep/one.txt" });
    await call("file_read", { path: "new/deep/one.txt" });
    await call("file_read", { path: "new/deep/one.txt", offset: 4, limit: 3 });
    await call("file_read", { path: "new/deep/one.txt", first_line: 2, line_count: 2 });
    await call("file_read", { path: "docs/long.txt", first_line: 8000, line_count: 3 });
    await call("read_file", { path: "link/long.txt" });
    await call("file_write", { path: "link/through.txt", content: "x" });
    await call("file_edit", { path: "new/deep/one.txt", old_content: "two", new_content: "2" });
    await call("file_edit", { path: "new/deep/one.txt", old_content: "not there", new_content: "" }, "error");
    await call("file_move", { source: "new/deep/one.txt", destination: "moved/here.txt" });
    await call("file_write", { path: "moved/other.txt", content: "replaced" });
    await call("file_move", { source: "moved/here.txt", destination: "moved/other.txt", overwrite: true });
    await call("file_delete", { path: "moved", recursive: true });
    await call("file_list", { path: "." });
    await call("file_search", { pattern: "end" });
    await call("db_query", { database: "none.sqlite", sql: "select 1" }, "error");
    await call("shell_exec", { command: "ls" });
    await call("artifact_publish", { artifact_id: "a", content_hash: hash, category: "c" });
    await call("read_file", { path: "no/such/file" }, "error");
    await kernel.close();
    serving = await at.serve();
  });
  after(() => at.remove());

  it("runs pure, deterministic and file calls again, and serves the rest from the record", async () => {
    report = reportOf(await at.ask(["replay", session]));
    assert.equal(report["clean"], true);
    assert.equal(report["verified"], true);
    assert.equal(report["calls"], 25);
    assert.equal(report["ran"], 18);
    assert.deepEqual(reasonsOf(report), { failed_on_files: 2, listing: 1, programs: 2, determinism: 1, artifacts: 1 });
    assert.ok(Number(report["decisions"]) >= 25);
    const told = await at.run(["replay", session, "--calls"]);
    assert.equal(told.code, 0);
    assert.match(told.stdout, /same {2}file_edit@1\.0\.0/);
    assert.match(told.stdout, /served \(listing\) {2}file_list@1\.0\.0/);
    assert.match(told.stdout, /ledger +verified first/);
  });

  it("reports that the ledger was not verified first", async () => {
    assert.match((await at.run(["replay", session, "--unverified"])).stdout, /ledger +not verified/);
  });

  it("changes neither the workspace nor the ledger", async () => {
    const count = async (): Promise<unknown> => (await at.ask(["ledger", "verify"]))["records"];
    const before = await count();
    await at.ask(["replay", "--all"]);
    assert.equal(await count(), before);
  });

  it("shows the digest that `session show` shows", async () => {
    assert.match(textOf(report["content_digest"]), /^[0-9a-f]{64}$/);
    assert.equal((await at.ask(["session", "show", session]))["content_digest"], report["content_digest"]);
  });

  it("has the same result without a kernel, and after the policy has changed", async () => {
    await writeFile(join(at.home, "policy", "zz-no.cedar"), '@id("no") forbid(principal, action, resource);\n');
    await at.ask(["policy", "reload"]);
    assert.equal(await serving.stop(), 0);
    assert.deepEqual(reportOf(await at.ask(["replay", session], 0, { ownProcess: true })), report);
  });

  it("rejects an invalid session and a missing one", async () => {
    assert.equal((await at.run(["replay", session, "--all"])).code, 2);
    assert.equal((await at.run(["replay", "ses_aaaaaaaaaaaaaaaaaaaa"])).code, 3);
    assert.equal((await at.run(["replay", session, "--data", join(at.root, "nowhere")])).code, 30);
  });

  it("refuses to replay a broken ledger", async () => {
    const database = new DatabaseSync(join(at.home, "store", "records.db"));
    database.exec("DELETE FROM records WHERE idx = 4");
    database.close();
    const answer = await at.ask(["replay", session], 20);
    assert.deepEqual(answer["sessions"], []);
    assert.equal(objectOf(answer["verified"])["complete"], false);
  });
});

const LYING = `
import { defineTool } from "narthex";
const made = { description: "Says a number.", inputSchema: { type: "object" }, tier: "read_only", determinism: "pure" };
export const honest = defineTool({ ...made, name: "honest", run: () => ({ number: 4 }) });
export const lying = defineTool({ ...made, name: "lying", run: () => ({ number: Math.random() }) });
`;

describe("narthex replay with custom tools", { timeout: 300_000 }, () => {
  let at: TestHome;
  let session: string;
  before(async () => {
    at = await openHome();
    await writeFile(join(at.root, "tools.ts"), LYING);
    await at.ask(["tools", "add", join(at.root, "tools.ts"), "--allow"]);
    session = (await at.openSession()).id;
    for (const tool of ["honest", "lying"]) await at.ask(["call", tool, "{}", "--session", session]);
  });
  after(() => at.remove());

  it("catches a module that is not as pure as declared, with exit code 10", async () => {
    const report = reportOf(await at.ask(["replay", session], 10));
    assert.deepEqual([report["clean"], report["ran"], report["divergence_count"]], [false, 1, 1]);
    const found = objectOf(objectsOf(report["divergences"])[0]);
    assert.deepEqual([found["tool"], found["stage"], found["cause"]], ["lying@1.0.0", "keep", "not_deterministic"]);
    assert.notEqual(found["expected_hash"], found["found_hash"]);
    const told = await at.run(["replay", session, "--unverified"]);
    assert.equal(told.code, 10);
    assert.match(told.stdout, /lying@1\.0\.0 .* differs in keep/);
    assert.match(told.stdout, /likely cause +the tool is not as deterministic as it declares/);
  });

  it("catches a tool of an embedding program, through that program's kernel", async () => {
    let counter = 0;
    const fickle = defineTool({
      name: "fickle",
      description: "Counts its calls and says that it does not.",
      inputSchema: true,
      tier: "read_only",
      determinism: "deterministic",
      run: () => ++counter,
    });
    const rule = '@id("fickle") permit(principal, action == Action::"fickle", resource);';
    const policies = [{ name: "fickle.cedar", text: rule }];
    const kernel = await createKernel({ data: at.home, tools: [fickle], policies });
    try {
      const opened = await kernel.session({ workspace: at.workspace });
      await opened.call("fickle", {});
      const report = reportOf(await at.ask(["replay", opened.id], 10));
      const found = objectOf(objectsOf(report["divergences"])[0]);
      assert.deepEqual([found["tool"], found["cause"]], ["fickle@1.0.0", "not_deterministic"]);
    } finally {
      await kernel.close();
    }
  });

  it("names a changed tool and a missing one", async () => {
    await at.ask(["tools", "remove", "lying"]);
    const removed = reportOf(await at.ask(["replay", session], 10));
    const found = objectOf(objectsOf(removed["divergences"])[0]);
    assert.deepEqual([found["stage"], found["cause"], found["found_hash"]], ["bind", "tool_changed", ""]);
  });
});
