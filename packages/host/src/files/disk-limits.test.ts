import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { SandboxFiles } from "../sandbox/sandbox-machine.ts";
import { spawnSandbox } from "../sandbox/spawn-sandbox.ts";
import { FILE_WORKER_COMMAND, fileWorkerPlan } from "./start-file-worker.ts";
import { assertFails, edit, write } from "./testing/file-operations.ts";
import { createScratchWorkspace, testMachine } from "./testing/scratch-workspace.ts";

const LIMIT_BYTES = 1024 * 1024;

describe("a disk that takes no more", () => {
  it("makes changes fail as a whole: what was there stays, and nothing else is there", async () => {
    // A limit on the size of files stands for a full disk: writes beyond it fail in the same place.
    await using scratch = await createScratchWorkspace({
      async start(place) {
        const machine = testMachine(join(scratch.directory, "machine"));
        const plan = await fileWorkerPlan(place);
        const limited = { ...plan, limits: { ...plan.limits, fileBytes: LIMIT_BYTES } };
        return await spawnSandbox(machine, new SandboxFiles(machine), limited, FILE_WORKER_COMMAND);
      },
    });
    const almost = "x".repeat(LIMIT_BYTES - 1);
    await writeFile(scratch.at("file"), `${almost}y`);
    await scratch.own();
    const long = { content: Buffer.alloc(3 * LIMIT_BYTES), mode: "replace" } as const;
    await assertFails(
      scratch.run({ kind: "write", path: "file", ...long }),
      "RESOURCE_EXCEEDED",
      /larger than allowed/,
    );
    await assertFails(scratch.run({ kind: "write", path: "new/file", ...long }), "RESOURCE_EXCEEDED");
    await assertFails(scratch.run(write("file", "more", "append")), "RESOURCE_EXCEEDED");
    await assertFails(scratch.run(edit("file", "y", "yyy")), "RESOURCE_EXCEEDED");
    assert.equal(await readFile(scratch.at("file"), "utf8"), `${almost}y`);
    await assert.rejects(stat(scratch.at("new")));
    assert.deepEqual(await scratch.leftOvers(), []);
    await scratch.run(edit("file", "y", "z"));
    assert.equal(await readFile(scratch.at("file"), "utf8"), `${almost}z`);
  });
});
