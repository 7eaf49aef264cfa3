import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createTestSandbox, type TestSandbox } from "../testing/test-sandbox.ts";
import { type ControlGroups, findControlGroups } from "./control-groups.ts";
import { watchResources } from "./watch-resources.ts";

const MEGABYTE = 1024 * 1024;
/** Takes memory in a second process, which no limit of a single process would notice in time. */
const GREEDY = `perl -e 'my @a; for (1..200) { push @a, "x" x 4000000; select undef, undef, undef, 0.01 } sleep 60' & wait`;

let sandbox: TestSandbox;
let groups: ControlGroups | undefined;
before(async () => {
  sandbox = await createTestSandbox();
  groups = await findControlGroups();
});
after(() => sandbox.remove());

async function runGreedy(useGroups: boolean) {
  const limits = { memoryBytes: 64 * MEGABYTE, processes: 64 };
  const group = useGroups ? await groups?.create(limits) : undefined;
  const started = await sandbox.start(["/bin/sh", "-c", GREEDY], {}, group && ((pid) => group.add(pid)));
  started.stdout.resume();
  started.stderr.resume();
  const watch = watchResources(started, limits, group);
  await started.ended.catch(() => undefined);
  const exceeded = await watch.finish();
  await group?.remove();
  return exceeded;
}

describe("a sandbox that takes more memory than it may", () => {
  test("is ended by the watchdog, with the limit and the peak", async () => {
    const exceeded = await runGreedy(false);
    assert.equal(exceeded?.limit, "memory");
    assert.equal(exceeded?.allowed, 64 * MEGABYTE);
    assert.ok((exceeded?.peak ?? 0) > 64 * MEGABYTE);
  });

  test("is ended by its control group where there is one", async (context) => {
    if (groups === undefined) {
      context.diagnostic("control groups cannot be made here: the watchdog stands alone");
      return;
    }
    const exceeded = await runGreedy(true);
    assert.equal(exceeded?.limit, "memory");
    assert.ok((exceeded?.peak ?? 0) >= 60 * MEGABYTE);
  });
});

test("a sandbox that starts too many processes ran into the limit of its group", async (context) => {
  if (groups === undefined) {
    context.diagnostic("control groups cannot be made here: processes are limited one by one");
    return;
  }
  const limits = { memoryBytes: 256 * MEGABYTE, processes: 8 };
  const group = await groups.create(limits);
  const script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1 & done; wait";
  const started = await sandbox.start(["/bin/sh", "-c", script], {}, (pid) => group.add(pid));
  started.stdout.resume();
  started.stderr.resume();
  const watch = watchResources(started, limits, group);
  await started.ended;
  assert.deepEqual(await watch.finish(), { limit: "processes", allowed: 8, peak: 8 });
  await group.remove();
});
