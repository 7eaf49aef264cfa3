import { spawn } from "node:child_process";
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { bubblewrapOptions, limitedCommand } from "../../../packages/host/src/sandbox/bubblewrap-options.ts";
import { SandboxFiles, type SandboxMachine } from "../../../packages/host/src/sandbox/sandbox-machine.ts";
import type { SandboxPlan } from "../../../packages/host/src/sandbox/sandbox-plan.ts";

/** Where the files go that bubblewrap is started with. */
const DESCRIPTORS = {
  status: 4,
  block: 5,
  seccomp: 6,
  contents: 11,
  etc: { passwd: 7, group: 8, hosts: 9, "nsswitch.conf": 10 },
};
/** About as long as the two records of a call. */
const RECORD_BYTES = 3000;

/** The least that a contained, recorded program costs: bubblewrap with the same options, and two appends with fdatasync. */
export async function prepareBareBubblewrap(
  machine: SandboxMachine,
  plan: SandboxPlan,
  command: readonly string[],
  directory: string,
): Promise<() => Promise<void>> {
  const files = new SandboxFiles(machine);
  const system = await files.system(plan.identity);
  const paths = [await files.filter(plan), system.passwd, system.group, system.hosts, system["nsswitch.conf"]];
  const options = `${bubblewrapOptions(plan, DESCRIPTORS).join("\0")}\0`;
  const log = openSync(join(directory, "appended"), "a", 0o600);
  const record = Buffer.alloc(RECORD_BYTES, 7);
  const append = (): void => {
    writeSync(log, record);
    fdatasyncSync(log);
  };
  return async () => {
    append();
    const opened = paths.map((path) => openSync(path, "r"));
    const child = spawn(machine.bubblewrap, ["--args", "3", "--", ...limitedCommand(plan.limits, command)], {
      cwd: "/",
      env: {},
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe", ...opened],
      ...(process.getuid?.() === 0 && plan.identity),
    });
    for (const fd of opened) closeSync(fd);
    const pipes: readonly unknown[] = child.stdio;
    for (const pipe of pipes.slice(1, 5)) if (pipe instanceof Readable) pipe.resume();
    const [optionsPipe, , block] = pipes.slice(3);
    if (!(optionsPipe instanceof Writable) || !(block instanceof Writable)) throw new Error("bubblewrap has no pipes");
    optionsPipe.end(options);
    block.on("error", () => undefined).write("x");
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    if (code !== 0) throw new Error(`bare bubblewrap ended with ${code}`);
    append();
  };
}
