import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { createLedgerWrites } from "@narthex/testkit";
import { type CommittedGroup, GroupCommit } from "./group-commit.ts";
import { startWriterThread } from "./start-writer.ts";

it("rejects everything that waits when the store breaks", () =>
  withCommit(1000, async (commit) => {
    const write = createLedgerWrites();
    const waiting = Array.from({ length: 20 }, () => commit.append(write({ padding: 300 })));
    commit.break("the disk is gone");
    for (const append of waiting) await assert.rejects(append, /the disk is gone/);
    await assert.rejects(commit.append(write()), /the disk is gone/);
  }));

it("gathers what comes while the writer is busy, and starts at once when it is idle", () =>
  withCommit(1e6, async (commit, groups) => {
    const write = createLedgerWrites();
    await commit.append(write());
    const first = Promise.all([commit.append(write()), commit.append(write())]);
    await new Promise((resolve) => setImmediate(resolve));
    const second = Promise.all([commit.append(write()), commit.append(write()), commit.append(write())]);
    await Promise.all([first, second]);
    assert.deepEqual(
      groups.map(({ records }) => records),
      [1, 2, 3],
    );
  }));

it("hands over no more than its bound at a time, in order, and takes a write larger than the bound", () =>
  withCommit(10_000, async (commit, groups) => {
    const write = createLedgerWrites();
    const done: number[] = [];
    const sizes = Array.from({ length: 60 }, (_, index) => (index === 30 ? 50_000 : 1500));
    await Promise.all(sizes.map((padding, index) => commit.append(write({ padding })).then(() => done.push(index))));
    assert.deepEqual(
      done,
      sizes.map((_, index) => index),
    );
    assert.ok(groups.every(({ records, bytes }) => records === 1 || bytes <= 10_000));
    assert.equal(
      groups.reduce((sum, { records }) => sum + records, 0),
      60,
    );
  }));

it("waits while paused and goes on when resumed", () =>
  withCommit(1e6, async (commit, groups) => {
    const write = createLedgerWrites();
    commit.pause();
    const waiting = commit.append(write());
    await new Promise((resolve) => setImmediate(resolve));
    await commit.restartWal();
    assert.deepEqual(groups, []);
    commit.resume();
    await waiting;
    assert.equal(groups.length, 1);
  }));

it("makes durable what waits when it is drained while paused", () =>
  withCommit(1e6, async (commit) => {
    commit.pause();
    const waiting = commit.append(createLedgerWrites()());
    await commit.drain();
    await waiting;
  }));

async function withCommit(
  maxGatheredBytes: number,
  run: (commit: GroupCommit, groups: readonly CommittedGroup[]) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-commit-"));
  const groups: CommittedGroup[] = [];
  const commit = new GroupCommit({ directory, maxGatheredBytes, startWriter: startWriterThread });
  commit.observe((group) => groups.push(group));
  try {
    await commit.open();
    await run(commit, groups);
  } finally {
    await commit.close();
    await rm(directory, { recursive: true });
  }
}
