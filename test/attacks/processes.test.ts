import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { type AttackedKernel, type AttackSession, startAttackedKernel } from "./support/attacked-kernel.ts";
import { assertNothingLeft, type HostFootprint, idleFootprint } from "./support/host-footprint.ts";

const MB = 1024 * 1024;
const MAX_KERNEL_GROWTH_BYTES = 200 * MB;

interface ResourceAttack {
  readonly name: string;
  readonly input: JsonObject & { readonly command: string };
  /** The answer's code, or several where it depends on who notices first, with what the message must say. */
  readonly ends: ReadonlyArray<readonly [code: string, message: RegExp]>;
}

const TIMEOUT = ["TIMEOUT", /did not finish within \d+ ms, and was killed with all it started/] as const;
const PROCESSES = ["RESOURCE_EXCEEDED", /^processes: at most \d+, and it came to \d+$/] as const;
const MEMORY = ["RESOURCE_EXCEEDED", /^memory: at most 64 MB, and it came to \d+ MB$/] as const;
const OUTPUT = [
  "RESOURCE_EXCEEDED",
  /^output: at most 1 MB, and it came to \d+ MB(?:; what was printed can be read with result_read: .*)?$/,
] as const;

/** Whatever it runs into first. */
/** Without control groups a single process meets its own limit first, or is refused what could not be counted. */
const REFUSED = ["exited", /^[1-9]\d*$/] as const;
const OWN_MEMORY = process.getuid?.() === 0 ? [MEMORY] : [MEMORY, REFUSED];
const BOMB = [TIMEOUT, PROCESSES, MEMORY];

const small = { memory_bytes: 64 * MB, processes: 32, timeout_ms: 1500 };
const python = (program: string): string => `exec python3 -c '${program}'`;

const ATTACKS: readonly ResourceAttack[] = [
  { name: "a fork bomb", input: { ...small, command: "bomb() { bomb | bomb & }; bomb; sleep infinity" }, ends: BOMB },
  {
    name: "a fork bomb whose children leave their session and ignore signals",
    input: {
      ...small,
      command: python(`
import os, signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True:
    try:
        if os.fork() == 0: os.setsid()
    except OSError: pass`),
    },
    ends: BOMB,
  },
  {
    name: "a thread bomb",
    input: {
      ...small,
      command: python(`
import threading, time
while True:
    try: threading.Thread(target=time.sleep, args=(60,)).start()
    except RuntimeError: pass`),
    },
    ends: BOMB,
  },
  {
    name: "zombies that nobody collects",
    input: {
      ...small,
      command: python(`
import os
while True:
    try:
        if os.fork() == 0: os._exit(0)
    except OSError: pass`),
    },
    ends: BOMB,
  },
  {
    name: "memory taken until there is none",
    input: { ...small, timeout_ms: 20_000, command: python("x = []\nwhile True: x.append(bytearray(1 << 20))") },
    ends: OWN_MEMORY,
  },
  {
    name: "memory taken by many processes, each within its own limit",
    input: {
      ...small,
      timeout_ms: 20_000,
      command: python(`
import os, time
for _ in range(8):
    if os.fork() == 0:
        held = bytearray(b"x" * (24 << 20))
        time.sleep(60)
time.sleep(60)`),
    },
    ends: [MEMORY],
  },
  {
    name: "memory taken as nameless files",
    input: {
      ...small,
      timeout_ms: 20_000,
      command: python(`
import os, time
for number in range(300): os.write(os.memfd_create(str(number)), b"x" * (1 << 20))
time.sleep(60)`),
    },
    ends: OWN_MEMORY,
  },
  {
    name: "memory taken by mapping shared memory in many pieces",
    input: {
      ...small,
      timeout_ms: 20_000,
      command: python(`
import mmap, time
held = []
for _ in range(300):
    piece = mmap.mmap(-1, 1 << 20)
    piece.write(b"x" * (1 << 20))
    held.append(piece)
time.sleep(60)`),
    },
    ends: [MEMORY],
  },
  {
    name: "memory taken as files of the temporary directory",
    input: { ...small, timeout_ms: 20_000, command: "head -c 300M /dev/zero > /tmp/big; sleep 60" },
    // Where no control group counts it, the directory's own size is the bound.
    ends: process.getuid?.() === 0 ? [MEMORY] : [MEMORY, TIMEOUT],
  },
  { name: "a busy loop", input: { ...small, command: "while :; do :; done" }, ends: [TIMEOUT] },
  { name: "a sleep without end", input: { ...small, command: "sleep infinity" }, ends: [TIMEOUT] },
  {
    name: "a program that stops itself",
    input: { ...small, command: "kill -STOP $$; kill -STOP 1; sleep infinity" },
    ends: [TIMEOUT],
  },
  {
    name: "a program that ignores every signal it can",
    input: { ...small, command: "trap '' TERM INT HUP QUIT PIPE ALRM; while :; do sleep 1; done" },
    ends: [TIMEOUT],
  },
  {
    name: "a daemon that was forked twice and keeps the output open",
    input: { ...small, command: "(setsid setsid sh -c 'sleep infinity' &) ; sleep infinity" },
    ends: [TIMEOUT],
  },
  {
    name: "output without end",
    input: { ...small, output_bytes: MB, timeout_ms: 20_000, command: "yes" },
    ends: [OUTPUT],
  },
  {
    name: "errors without end",
    input: { ...small, output_bytes: MB, timeout_ms: 20_000, command: "yes >&2" },
    ends: [OUTPUT],
  },
];

let at: AttackedKernel;
let session: AttackSession;
let bystander: AttackSession;
let idle: HostFootprint;

before(async () => {
  at = await startAttackedKernel();
  session = await at.open();
  bystander = await at.open(await at.makeWorkspace("bystander"));
  // Once, so that what stays for the next call is there.
  for (const one of [session, bystander]) assert.equal((await one.shell("echo ready")).stdout, "ready\n");
  idle = await idleFootprint(at);
});
after(() => at.remove());

async function residentBytes(): Promise<number> {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${at.pid}/status`, "utf8"))?.[1]) * 1024;
}

function exitCodeOf(result: unknown): string {
  return JSON.stringify((result as { readonly exit_code?: number } | null)?.exit_code ?? "");
}

describe("an attack on the host's resources", { timeout: 240_000 }, () => {
  for (const { name, input, ends } of ATTACKS) {
    test(`${name} ends at a limit; a concurrent call continues, and nothing is left`, async () => {
      const held = await residentBytes();
      const attack = session.call("limited_run", input);
      assert.equal((await bystander.shell("echo beside it")).stdout, "beside it\n");
      const { status, code, message, result } = await attack;
      const [end, words] = status === "error" ? [code, message] : ["exited", exitCodeOf(result)];
      assert.ok(
        ends.some(([expected, text]) => end === expected && text.test(words)),
        `${end}: ${words}`,
      );
      assert.equal((await session.shell("echo after it")).stdout, "after it\n");
      await assertNothingLeft(at, idle);
      assert.ok((await residentBytes()) - held < MAX_KERNEL_GROWTH_BYTES, "the kernel grew");
    });
  }

  test("a busy loop is ended by its limit of processor time, long before its time-out", async () => {
    const answer = await session.call("limited_run", {
      command: "while :; do :; done",
      cpu_ms: 1000,
      timeout_ms: 50_000,
    });
    assert.match(`${answer.code} ${answer.message}`, /^RESOURCE_EXCEEDED cpu: at most 1000 ms/, JSON.stringify(answer));
    await assertNothingLeft(at, idle);
  });

  test("a program that reads its input forever gets end of file at once", async () => {
    const { stdout, exitCode } = await session.shell("cat; read -r line || echo no more; tty");
    assert.deepEqual([stdout, exitCode], ["no more\nnot a tty\n", 1]);
  });

  test("a daemon that outlives its parent ends with the call, which does not wait for it", async () => {
    const { stdout } = await session.shell("(setsid sh -c 'sleep infinity' >/dev/null 2>&1 &) ; echo done");
    assert.equal(stdout, "done\n");
    await assertNothingLeft(at, idle);
  });

  test("a sparse file of 1 TB, and a file above the limit, use no disk space", async () => {
    const { exitCode, stderr } = await session.shell("truncate -s 1T huge");
    assert.notEqual(exitCode, 0, stderr);
    assert.equal((await stat(at.at("huge"))).size, 0);
    await session.shell("rm -f huge");
  });

  test("a program that kills every visible process kills only itself", async () => {
    await session.call("shell_exec", { command: "kill -KILL -1; kill -KILL 1; kill -KILL $$" });
    assert.equal((await session.shell("echo after it")).stdout, "after it\n");
    assert.equal(at.child.exitCode, null);
    await assertNothingLeft(at, idle);
  });
});
