import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ended } from "../cli/home.ts";
import { type AttackedKernel, startAttackedKernel } from "./support/attacked-kernel.ts";
import { assertNothingRuns, findGroups } from "./support/host-footprint.ts";

const PROGRAM = fileURLToPath(new URL("../../packages/narthex/bin/narthex.js", import.meta.url));
const COMMAND =
  "mkdir -p .claude .github/workflows; echo attack > .claude/settings.json; ln -s evil .mcp.json; echo x > .github/workflows/evil.yml; chmod 000 .claude; trap '' TERM HUP; (setsid sh -c 'while :; do date +%s%N > alive; done' &) ; until [ -s alive ]; do :; done; echo running; sleep infinity";

describe("a kernel killed in the middle of a call", { timeout: 120_000 }, () => {
  let first: AttackedKernel;
  let second: AttackedKernel | undefined;
  after(() => (second ?? first).remove());

  test("takes its programs with it; the next kernel quarantines planted files and reports the call as killed", async () => {
    first = await startAttackedKernel();
    await mkdir(first.at(".github"));
    await writeFile(first.at(".env"), "KEY=1\n");
    await writeFile(first.at(".github/own.yml"), "own\n");
    await first.own();
    const session = await first.open();
    const running = Promise.withResolvers<void>();
    const call = session.call(
      "shell_exec",
      { command: COMMAND },
      { requestId: "killed", onOutput: () => running.resolve() },
    );
    await running.promise;
    first.child.kill("SIGKILL");
    await ended(first.child);
    assert.equal((await call).code, "KERNEL_UNREACHABLE");
    await assertNothingRuns(first.root);
    const last = await readFile(first.at("alive"), "utf8");

    // A person's own edit meanwhile cannot be told from the program's.
    await writeFile(first.at(".npmrc"), "edited=1\n");
    await first.own();
    second = await startAttackedKernel({ root: first.root });
    const planted = (await readdir(first.workspace)).filter((name) => /claude|mcp|npmrc/.test(name));
    assert.deepEqual([planted, await readdir(first.at(".github"))], [[], ["own.yml"]]);
    assert.equal(await readFile(first.at(".env"), "utf8"), "KEY=1\n");
    const { stdout: kept } = await promisify(execFile)("grep", ["-rlE", "^attack$|^edited=1$", first.workspace]);
    assert.equal(kept.match(/\.narthex-taken/g)?.length, 2, kept);
    const told = /protected paths of .* put back after a crash: (.*), kept in \.narthex-taken/.exec(
      await ask(second.home, "ledger", "list"),
    );
    for (const name of [".claude", ".mcp.json", ".github/workflows", ".npmrc"]) {
      assert.ok(told?.[1]?.split(", ").includes(name), told?.[1]);
    }
    const again = await second.open();
    assert.equal((await again.shell("echo back; cat alive")).stdout, `back\n${last}`, "something still writes");
    assert.equal(await ask(second.home, "journal", "--json"), '{"intents":[]}\n', "nothing is left to settle");
    assert.match(await ask(second.home, "ledger", "show", `${session.id}/killed`), /KILLED/);
    // The new kernel's own pipes, and nothing of the old one's.
    const left = (await readdir(second.temporary)).map((name) => name.replace(/-[^-]*$/, ""));
    assert.deepEqual(left, ["narthex-pipes"]);
  });

  test("leaves no control group to the next kernel", async () => {
    assert.deepEqual(await findGroups(first.pid), []);
  });
});

/** What a person is told, by the command line, through the kernel that runs now. */
async function ask(home: string, ...words: readonly string[]): Promise<string> {
  const environment = { ...process.env, NARTHEX_DATA: home };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...words], { env: environment });
  return stdout;
}
