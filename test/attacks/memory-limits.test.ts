import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type AttackedKernel, type AttackSession, startAttackedKernel } from "./support/attacked-kernel.ts";
import { assertNothingLeft, type HostFootprint, idleFootprint } from "./support/host-footprint.ts";

const MEMORY = /^RESOURCE_EXCEEDED memory: at most 64 MB, and it came to \d+ MB$/;
/** Without control groups nobody counts these; the program is ended by its own limits or by its time. */
const ENDS = process.getuid?.() === 0 ? MEMORY : new RegExp(`${MEMORY.source}|^TIMEOUT |^exited [1-9]`);

const MAP = `
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
`;

const ATTACKS: Readonly<Record<string, string>> = {
  // One page of content, seen at thousands of addresses that each need a table of their own.
  "in tables of pages": `${MAP}
fd = os.memfd_create("page")
os.ftruncate(fd, 4096)
for number in range(60000):
    at = libc.mmap(0x100000000000 + number * (2 << 20), 4096, 3, 0x100001, fd, 0)
    if at in (None, 2**64 - 1): break
    ctypes.memset(at, 1, 1)
time.sleep(60)`,
  "that is pushed out to swap as soon as it is written": `${MAP}
for _ in range(300):
    at = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
    ctypes.memset(at, 1, 1 << 20)
    libc.madvise(at, 1 << 20, 21)
time.sleep(60)`,
  "locked in place": `${MAP}
for _ in range(300):
    at = libc.mmap(None, 1 << 20, 3, 0x2022, -1, 0)
    if at in (None, 2**64 - 1): at = libc.mmap(None, 1 << 20, 3, 0x22, -1, 0)
    ctypes.memset(at, 1, 1 << 20)
time.sleep(60)`,
};

describe("memory", { timeout: 120_000 }, () => {
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

  for (const [name, program] of Object.entries(ATTACKS)) {
    test(`${name} counts as memory and ends at the limit`, async () => {
      const command = `exec python3 -c '${program}'`;
      const { status, code, message, result } = await session.call("limited_run", {
        command,
        memory_bytes: 64 * 1024 * 1024,
        processes: 32,
        timeout_ms: 20_000,
      });
      assert.match(status === "error" ? `${code} ${message}` : `exited ${JSON.stringify(result)}`, ENDS);
      assert.equal((await session.shell("echo after it")).stdout, "after it\n");
      await assertNothingLeft(at, idle);
    });
  }
});
