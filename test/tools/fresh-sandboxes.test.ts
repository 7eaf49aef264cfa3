import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fromBinary, RecordSchema } from "@narthex/contracts";
import { type GitKernel, openGitKernel } from "./git-kernel.ts";

describe("a program that a call runs", { timeout: 120_000 }, () => {
  let at: GitKernel;
  before(async () => {
    at = await openGitKernel();
  });
  after(() => at.close());

  it("has a sandbox of its own, even among concurrent calls of one session", async () => {
    // Each waits for the other: a namespace's number is given again once nobody is in it.
    const look = (mine: string, other: string) =>
      at.shell(`touch ${mine}; until [ -e ${other} ]; do sleep 0.02; done; readlink /proc/self/ns/{pid,mnt,net,ipc}`);
    const [one, two] = await Promise.all([look("one", "two"), look("two", "one")]);
    const [first, second] = [one, two].map(({ stdout }) => stdout.trim().split("\n"));
    assert.equal(first?.length, 4);
    assert.equal(new Set([...(first ?? []), ...(second ?? [])]).size, 8, `${one.stdout}${two.stdout}`);
  });

  it("finds nothing that an earlier one left outside the workspace and the session's own directories", async () => {
    await at.shell("echo left > /tmp/left; echo left > /dev/shm/left; (setsid sleep infinity &); true");
    const { stdout } = await at.shell("cat /tmp/left /dev/shm/left 2>/dev/null; pgrep sleep; true");
    assert.equal(stdout, "");
  });

  it("runs on a host that is examined and recorded in the ledger once", async () => {
    at.host("", "init", "-q", "repository");
    at.own();
    await at.git("STATUS", [], "repository");
    const records = await at.kernel.listRecords({ limit: 10_000 });
    const kinds = records.flatMap(({ record }) =>
      fromBinary(RecordSchema, record).entries.map(({ kind }) => kind.case),
    );
    assert.equal(kinds.filter((kind) => kind === "hostExamined").length, 1);
    assert.ok(kinds.filter((kind) => kind === "toolStarted").length > 4);
  });
});
