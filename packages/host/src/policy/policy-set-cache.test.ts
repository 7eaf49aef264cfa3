import assert from "node:assert/strict";
import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cachePolicySet, loadCachedSet } from "./policy-set-cache.ts";
import { TEST_SCHEMA } from "./test-policy.ts";

const RULE = "permit(principal, action, resource);";

test("a set that this process knows is kept in every home that has it, for the next process", async () => {
  const files = [{ name: "everything.cedar", text: RULE }];
  const [one, other] = await Promise.all([createDirectory(), createDirectory()]);
  await loadCachedSet(files, TEST_SCHEMA, { directory: one });
  const again = await loadCachedSet(files, TEST_SCHEMA, { directory: other });
  assert.equal(again.rules.length, 1);
  assert.equal((await readdir(one)).length, 1);
  assert.deepEqual(await readdir(other), await readdir(one));
});

test("a set that came with the program is not kept anywhere else", async () => {
  const files = [{ name: "shipped.cedar", text: RULE }];
  const [shipped, home] = await Promise.all([createDirectory(), createDirectory()]);
  await cachePolicySet(files, TEST_SCHEMA, shipped);
  // What a process remembers is bounded, so that it has forgotten that it read the set itself.
  for (let n = 0; n < 8; n++) await loadCachedSet([{ name: `other-${n}.cedar`, text: RULE }], TEST_SCHEMA, {});
  for (let times = 0; times < 2; times++) await loadCachedSet(files, TEST_SCHEMA, { directory: home, shipped });
  assert.deepEqual(await readdir(home), []);
});

function createDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "narthex-known-sets-"));
}
