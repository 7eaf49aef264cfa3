import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { it } from "node:test";

/** Runs a program that watches for uncaught errors and then does something wrong. */
function run(wrong: string, environment: NodeJS.ProcessEnv = {}) {
  const module = new URL("./uncaught-errors.ts", import.meta.url).href;
  const program = `import { watchUncaughtErrors } from ${JSON.stringify(module)}; watchUncaughtErrors(process.env); ${wrong}`;
  const env = { PATH: process.env["PATH"], ...environment };
  return spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8", env });
}

it("an error that nothing catches ends the command with its message and code, and no source", () => {
  const thrown = run('setTimeout(() => { throw Object.assign(new Error("disk\\u001b[2J gone"), { code: "EIO" }) })');
  assert.equal(
    thrown.stderr,
    "error: disk\\u001b[2J gone\ncode:  EIO\nnext:  run it again with NARTHEX_DEBUG=1 to see where it happened\n",
  );
  assert.deepEqual([thrown.status, thrown.stdout], [1, ""]);
});

it("a rejection that nothing handles is told the same way, with its stack where NARTHEX_DEBUG asks for it", () => {
  const { status, stderr } = run('void Promise.reject(new Error("boom"))', { NARTHEX_DEBUG: "1" });
  assert.equal(status, 1);
  assert.match(stderr, /^error: boom\ncode: {2}INTERNAL\nError: boom\n +at /);
});
