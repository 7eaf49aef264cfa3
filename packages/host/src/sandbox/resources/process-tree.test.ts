import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { measureTree } from "./process-tree.ts";

const IN_A_THREAD = `
import subprocess, threading
def work():
  child = subprocess.Popen(["cat"])
  print("started", flush=True)
  child.wait()
threading.Thread(target=work).start()
`;

describe("the processes of a tree", () => {
  it("have those among them that a thread other than the first one started", async () => {
    const program = spawn("/usr/bin/python3", ["-c", IN_A_THREAD], { stdio: ["pipe", "pipe", "inherit"] });
    await once(program.stdout, "data");
    const { processes } = await measureTree(program.pid ?? 0);
    program.stdin.end();
    await once(program, "close");
    assert.equal(processes, 2);
  });
});
