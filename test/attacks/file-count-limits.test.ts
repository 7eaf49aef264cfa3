import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type AttackedKernel, type AttackSession, startAttackedKernel } from "./support/attacked-kernel.ts";
import { assertNothingLeft, type HostFootprint, idleFootprint } from "./support/host-footprint.ts";

const SMALL = { memory_bytes: 64 * 1024 * 1024, processes: 32 };
const MAKE =
  'import os\nnumber = 0\nwhile True:\n    os.close(os.open("f%d" % number, os.O_CREAT | os.O_WRONLY)); number += 1';

describe("unlimited files and directories", { timeout: 120_000 }, () => {
  let at: AttackedKernel;
  let session: AttackSession;
  let idle: HostFootprint;
  before(async () => {
    at = await startAttackedKernel();
    session = await at.open();
    await session.shell("echo ready");
    idle = await idleFootprint(at);
  });
  after(() => at.remove());

  const end = async (command: string, timeoutMs: number): Promise<string> => {
    const { status, code, message } = await session.call("limited_run", { ...SMALL, command, timeout_ms: timeoutMs });
    return status === "error" ? `${code} ${message}` : "exited";
  };

  for (const place of ["/tmp", "/dev/shm", "/scratch"]) {
    test(`empty ones in ${place} stop at a limit of space, memory or time, and are removed with the call or the session`, async () => {
      const said = await end(`cd ${place} && exec python3 -c '${MAKE}'`, 3000);
      assert.match(said, /^(?:RESOURCE_EXCEEDED (?:memory|temp|files)|TIMEOUT |exited)/);
      assert.equal((await session.shell("echo after it")).stdout, "after it\n");
      await session.shell("cd /scratch && find . -name 'f*' -delete");
      await assertNothingLeft(at, idle);
    });
  }

  test("empty ones in the workspace stop at the call's time-out, and tools still respond there", async () => {
    assert.match(await end(`mkdir many && cd many && exec python3 -c '${MAKE}'`, 1500), /^TIMEOUT /);
    const listed = await session.call("file_list", { path: "many", limit: 10 });
    assert.equal(listed.status, "success", listed.message);
    const all = await session.call("file_list", { path: ".", recursive: true });
    assert.ok(all.status === "success" || all.code === "RESOURCE_EXCEEDED", `${all.code} ${all.message}`);
    assert.equal((await session.shell("rm -rf many; ls -d many 2>/dev/null; true")).stdout, "");
  });

  test("every tool lists, searches and deletes ten thousand levels of directories within its limits", async () => {
    const program =
      'import os\nfor _ in range(10000): os.mkdir("d"); os.chdir("d")\nopen("bottom", "w").write("needle")';
    const { exitCode, stderr } = await session.shell(`mkdir deep && cd deep && exec python3 -c '${program}'`);
    assert.equal(exitCode, 0, stderr);
    for (const [tool, input] of [
      ["file_list", { path: "deep", recursive: true }],
      ["file_search", { pattern: "needle", path: "deep" }],
      ["file_move", { source: "deep", destination: "moved" }],
      ["file_delete", { path: "moved", recursive: true }],
    ] as const) {
      const { status, code, message } = await session.call(tool, input);
      assert.ok(
        status === "success" ||
          /^(?:RESOURCE_EXCEEDED|INVALID_INPUT|PATH_ESCAPE|EXECUTION_FAILED|FILE_NOT_FOUND)$/.test(code),
        `${tool}: ${code} ${message}`,
      );
    }
    assert.equal((await session.shell("rm -rf deep moved; ls -d deep moved 2>/dev/null; true")).stdout, "");
  });
});
