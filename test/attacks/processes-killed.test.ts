import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ended } from "../cli/home.ts";
import { type AttackedKernel, startAttackedKernel } from "./support/attacked-kernel.ts";
import { assertNothingRuns, findGroups } from "./support/host-footprint.ts";

const PROGRAM = fileURLToPath(new URL("../../packages/narthex/bin/narthex.js", import.meta.url));
const COMMAND =
  "trap '' TERM HUP; (setsid sh -c 'while :; do date +%s%N > alive; done' &) ; until [ -s alive ]; do :; done; echo running; sleep infinity";

describe("a kernel killed in the middle of a call", { timeout: 120_000 }, () => {
  let first: AttackedKernel;
  let second: AttackedKernel | undefined;
  after(() => (second ?? first).remove());

  test("takes everything that ran with it; the next one says the outcome is unknown", async () => {
    first = await startAttackedKernel();
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

    second = await startAttackedKernel({ root: first.root });
    const again = await second.open();
    assert.equal((await again.shell("echo back; cat alive")).stdout, `back\n${last}`, "something still writes");
    const report = await journalOf(second.home);
    assert.match(report, /"request_id":"killed"/);
    assert.match(report, /"state":"unknown"/);
    // The new kernel's own pipes, and nothing of the old one's.
    const left = (await readdir(second.temporary)).map((name) => name.replace(/-[^-]*$/, ""));
    assert.deepEqual(left, ["narthex-pipes"]);
  });

  test("leaves no control group to the next one", async () => {
    assert.deepEqual(await findGroups(first.pid), []);
  });
});

/** What a person is told, by the command line, through the kernel that runs now. */
async function journalOf(home: string): Promise<string> {
  const environment = { ...process.env, NARTHEX_DATA: home };
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, "journal", "--json"], { env: environment });
  return stdout;
}
