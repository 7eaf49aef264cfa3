import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fromBinary, type JsonObject, RecordContentSchema } from "@narthex/contracts";
import { createLabelledHome, type LabelledHome } from "./support/labelled-sessions.ts";

/** Where no program looks by itself. */
const DEEP = "deep/down/.env";

describe("programs do not lose a label", { timeout: 300_000 }, () => {
  let home: LabelledHome;
  before(async () => {
    home = await createLabelledHome();
  });
  after(() => home[Symbol.asyncDispose]());

  /** A workspace in which a session that read a secret has written. */
  async function labelled(): Promise<string> {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    return workspace;
  }

  it("by copying under another name, or into a nested workspace", async () => {
    const workspace = await labelled();
    const copier = await home.open(workspace);
    await home.assertSecret(copier, "shell_exec", { command: "mkdir sub; tr a-z b-za < notes.txt > sub/b.txt; ls" });
    await home.assertSecretFile(workspace, "sub/b.txt");
    await home.assertSecretFile(join(workspace, "sub"), "b.txt");
  });

  it("when the secret is on a session's command line instead of in a file", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    await home.done(dirty, "shell_exec", { command: "cat > plain.txt", stdin: "hunter2" });
    await home.assertSecretFile(workspace, "plain.txt");
  });

  it("through commits and checkouts", async () => {
    const workspace = await home.workspace();
    assert.equal(spawnSync("git", ["init", "-q", workspace]).status, 0);
    await home.at.own();
    const dirty = await home.openDirty(workspace);
    const git = (operation: string, ...args: string[]): JsonObject => ({ operation, args });
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    await home.done(dirty, "git", git("ADD", "notes.txt"));
    await home.done(dirty, "git", git("COMMIT", "-m", "x"));
    for (const operation of [git("LOG", "-p"), git("SHOW", "HEAD:notes.txt"), git("CHECKOUT", "-b", "other")]) {
      await home.assertSecret(await home.open(workspace), "git", operation);
    }
  });

  it("through a database", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    const ask = (sql: string): JsonObject => ({ database: "plain.db", sql });
    await home.done(dirty, "db_query", ask("CREATE TABLE t(word TEXT)"));
    await home.done(dirty, "db_query", ask("INSERT INTO t VALUES ('hunter2')"));
    await home.assertSecret(await home.open(workspace), "db_query", ask("SELECT word FROM t"));
  });

  it("by being killed half way: neither its files nor its output", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    const command = "cp .env plain.txt; cat .env; sleep 60";
    const killed = await dirty.call("shell_exec", { command, timeout_ms: 1500 }, { requestId: "killed" });
    assert.equal(killed.status, "error");
    assert.match(await readFile(join(workspace, "plain.txt"), "utf8"), /hunter2/);
    await home.assertSecretFile(workspace, "plain.txt");
    const stored = await home.at.kernel.findCall(dirty.id, "killed");
    const printed = fromBinary(RecordContentSchema, stored?.content ?? assert.fail()).items.find(
      ({ data }) => Buffer.from(data).toString() === "PASSWORD=hunter2\n",
    );
    assert.deepEqual(printed?.labels, ["secret"]);
  });

  it("by being cancelled", async () => {
    const workspace = await home.workspace();
    const dirty = await home.openDirty(workspace);
    const running = dirty.call(
      "shell_exec",
      { command: "cp .env plain.txt; echo copied; sleep 60" },
      {
        onChunk: () => void dirty.close(),
      },
    );
    assert.equal((await running).status, "error");
    await home.assertSecretFile(workspace, "plain.txt");
  });

  it("through a job that started before the label", async () => {
    const workspace = await home.workspace(DEEP);
    const clean = await home.open(workspace);
    const command = "until [ -s notes.txt ]; do sleep 0.1; done; cat notes.txt";
    const { raw } = await home.done(clean, "shell_spawn", { command });
    const { job_id: jobId } = raw as { job_id: string };
    const early = await home.done(clean, "shell_output", { job_id: jobId });
    assert.deepEqual(early.metadata.labels, []);
    const dirty = await home.openDirty(workspace, DEEP);
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    await home.assertSecret(clean, "shell_output", { job_id: jobId, wait_ms: 20_000 });
  });

  it("by running while another program writes", async () => {
    const workspace = await home.workspace(DEEP);
    const clean = await home.open(workspace);
    const started = Promise.withResolvers<void>();
    const command = "echo ready; until [ -s notes.txt ]; do sleep 0.1; done; cat notes.txt";
    const running = clean.call("shell_exec", { command }, { onChunk: () => started.resolve() });
    await started.promise;
    const dirty = await home.openDirty(workspace, DEEP);
    await home.done(dirty, "file_write", { path: "notes.txt", content: "hunter2" });
    assert.deepEqual((await running).metadata.labels, ["secret"]);
    assert.deepEqual((await home.at.kernel.getSession(clean.id))?.session.labels, ["secret"]);
  });

  it("by reading a secret file in its working directory", async () => {
    const workspace = await home.workspace("service/.ENV");
    await home.assertSecret(await home.open(workspace), "shell_exec", { command: "cat .e*", cwd: "service" });
    await home.assertSecret(await home.open(workspace), "shell_spawn", { command: "cat service/.ENV" });
  });

  it("by naming a secret file in a deeper directory", async () => {
    const workspace = await home.workspace(DEEP);
    for (const command of [
      `cat ${DEEP}`,
      `cat <"${DEEP}"`,
      `X=./${DEEP}; cat $X`,
      `tar c ${dirname(DEEP)}/.ssh/x || true`,
    ]) {
      await home.assertSecret(await home.open(workspace), "shell_exec", { command });
    }
  });

  it("that was never there: a command in a workspace without secrets has no labels", async () => {
    const workspace = await home.workspace(DEEP);
    const session = await home.open(workspace);
    const { metadata } = await home.done(session, "shell_exec", { command: "ls; echo .environment" });
    assert.deepEqual(metadata.labels, []);
  });

  it("before their output is shown: the workspace has it by then", async () => {
    const workspace = await home.workspace();
    const session = await home.open(workspace);
    const seen: Promise<unknown>[] = [];
    const onChunk = (): void => void seen.push(home.at.kernel.listWorkspaceLabels(workspace));
    await session.call("shell_exec", { command: "cat .env" }, { onChunk });
    assert.deepEqual(await seen[0], [{ workspace, labels: ["secret"] }]);
  });
});
