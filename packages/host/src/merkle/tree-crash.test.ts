import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { isConsistent, parseCheckpointText, parseNote } from "@narthex/kernel";
import { createSignedHome } from "./testing/signed-home.ts";

const CHILD = fileURLToPath(new URL("./testing/signing-worker.ts", import.meta.url));
const KILLS = 3;

it("a kernel that is killed while it signs completes its log by itself, and never contradicts what it gave away", async () => {
  const home = await createSignedHome();
  const given: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) given.push(...(await signUntilKilled(home.directory, 2 + kill, kill * 3)));
  await home.run(async (kernel) => {
    const newest = await kernel.signCheckpoint();
    assert.equal(await readFile(join(home.merkle, "checkpoint"), "utf8"), newest.note);
    assert.ok(given.length >= KILLS * 2);
    for (const note of given) {
      const older = parseCheckpointText(parseNote(note)?.text ?? "");
      assert.ok(older !== undefined);
      const { path, older: kept } = await kernel.proveConsistency({ from: older.size });
      assert.equal(kept, note);
      const roots = { fromRoot: older.root, toRoot: newest.root };
      assert.ok(isConsistent({ from: older.size, to: newest.size, ...roots, path }));
    }
    for (let index = 0; index < newest.size; index += 41) await kernel.proveRecord({ index });
  });
  assert.deepEqual(await readdir(join(home.merkle, "tmp")), []);
  assert.deepEqual(await readdir(join(home.merkle, "keys")), ["000"]);
  await home.remove();
});

/** The checkpoints that it gave away. It is killed some time after the last one that is waited for. */
async function signUntilKilled(directory: string, checkpoints: number, afterMs: number): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, directory], { stdio: ["ignore", "pipe", "inherit"] });
  const given: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    given.push(JSON.parse(line) as string);
    if (given.length === checkpoints) setTimeout(() => child.kill("SIGKILL"), afterMs);
  }
  return given;
}
