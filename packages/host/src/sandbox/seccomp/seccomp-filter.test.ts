import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BpfProgram } from "./bpf-program.ts";
import { createSeccompFilter, type SandboxArchitecture, type SeccompOptions } from "./seccomp-filter.ts";
import { ABSENT_CALLS, DENIED_CALLS, FILTERED_CALLS } from "./syscall-numbers.ts";

const ALLOWED = "allowed";
const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const COLUMN = { x64: 0, arm64: 1 } as const;

/** Runs a filter as the kernel would. */
function judge(
  filter: Buffer,
  call: { readonly number: number; readonly arch?: number; readonly args?: readonly number[] },
): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE((call.arch ?? AUDIT.x64) >>> 0, 4);
  (call.args ?? []).forEach((value, index) => data.writeBigUInt64LE(BigInt(value), 16 + index * 8));
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = filter.readUInt16LE(at * 8);
    const [yes, no, value] = [filter[at * 8 + 2] ?? 0, filter[at * 8 + 3] ?? 0, filter.readUInt32LE(at * 8 + 4)];
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? yes : no;
    else if (code === 0x06) return answerOf(value);
    else assert.fail(`an instruction the kernel's filter has not: ${code}`);
  }
  return assert.fail("the filter runs past its end");
}

function answerOf(action: number): string {
  if (action === 0x7fff0000) return ALLOWED;
  if (action === 0x80000000) return "killed";
  return { 1: "EPERM", 38: "ENOSYS", 97: "EAFNOSUPPORT" }[action & 0xffff] ?? `errno ${action & 0xffff}`;
}

function filterFor(options: Partial<SeccompOptions> = {}): Buffer {
  return createSeccompFilter({
    architecture: "x64",
    socketFamilies: ["inet"],
    mayFork: true,
    countsAllMemory: true,
    ...options,
  });
}

for (const architecture of ["x64", "arm64"] as const satisfies readonly SandboxArchitecture[]) {
  const arch = AUDIT[architecture];
  const column = COLUMN[architecture];
  const number = (name: keyof typeof FILTERED_CALLS): number => FILTERED_CALLS[name][column] ?? -1;

  describe(`the filter for ${architecture}`, () => {
    const filter = filterFor({ architecture });

    test("kills what comes from another architecture", () => {
      assert.equal(judge(filter, { number: 0, arch: 0x40000003 }), "killed");
      assert.equal(judge(filter, { number: 0, arch: AUDIT[architecture === "x64" ? "arm64" : "x64"] }), "killed");
    });

    test("answers every call it knows of as its table says", () => {
      for (const numbers of Object.values(DENIED_CALLS)) {
        if (numbers[column] !== undefined) assert.equal(judge(filter, { number: numbers[column], arch }), "EPERM");
      }
      for (const numbers of Object.values(ABSENT_CALLS)) {
        assert.equal(judge(filter, { number: numbers[column], arch }), "ENOSYS");
      }
    });

    test("answers calls newer than its table as an old kernel would", () => {
      for (const unknown of [451, 452, 467, 600, 0x3fffffff]) {
        assert.equal(judge(filter, { number: unknown, arch }), "ENOSYS");
      }
    });

    test("allows every call that no table names", () => {
      const named = [DENIED_CALLS, ABSENT_CALLS, FILTERED_CALLS].flatMap((table) =>
        Object.values(table).map((numbers) => numbers[column]),
      );
      for (let call = 0; call < 451; call++) {
        if (!named.includes(call)) assert.equal(judge(filter, { number: call, arch }), ALLOWED, String(call));
      }
    });

    test("lets processes be made, and no namespace with them", () => {
      const clone = number("clone");
      assert.equal(judge(filter, { number: clone, arch, args: [0x11] }), ALLOWED);
      for (const bit of [17, 25, 26, 27, 28, 29, 30]) {
        assert.equal(judge(filter, { number: clone, arch, args: [2 ** bit] }), "EPERM", `bit ${bit}`);
      }
    });

    test("lets a program that may not fork have threads only, and kills it for more", () => {
      const alone = filterFor({ architecture, mayFork: false });
      assert.equal(judge(alone, { number: number("clone"), arch, args: [0x11] }), "killed");
      assert.equal(judge(alone, { number: number("clone"), arch, args: [0x3d0f00] }), ALLOWED);
      if (architecture === "x64") {
        for (const name of ["fork", "vfork"] as const)
          assert.equal(judge(alone, { number: number(name), arch }), "killed");
      }
    });

    test("judges a terminal's request by its low 32 bits, as the kernel does", () => {
      const ioctl = number("ioctl");
      assert.equal(judge(filter, { number: ioctl, arch, args: [0, 0x5412] }), "EPERM");
      assert.equal(judge(filter, { number: ioctl, arch, args: [0, 0x100005412] }), "EPERM");
      assert.equal(judge(filter, { number: ioctl, arch, args: [0, 0x541c] }), "EPERM");
      assert.equal(judge(filter, { number: ioctl, arch, args: [0, 0x5413] }), ALLOWED);
    });

    test("opens sockets of the listed families only", () => {
      const families = { unix: 1, inet: 2, inet6: 10 } as const;
      for (const allowed of [[], ["inet", "inet6"], ["unix", "inet"]] as const) {
        const chosen = filterFor({ architecture, socketFamilies: allowed });
        for (let family = 0; family < 50; family++) {
          const expected = allowed.some((name) => families[name] === family) ? ALLOWED : "EAFNOSUPPORT";
          assert.equal(judge(chosen, { number: number("socket"), arch, args: [family] }), expected, String(family));
        }
      }
    });

    test("sets no setuid or setgid bit, by any call that takes a mode", () => {
      const modes: [name: keyof typeof FILTERED_CALLS, before: number[]][] = [
        ["creat", [0]],
        ["chmod", [0]],
        ["fchmod", [0]],
        ["fchmodat", [0, 0]],
        ["mknod", [0]],
        ["mknodat", [0, 0]],
        ["open", [0, 0o100]],
        ["openat", [0, 0, 0o100]],
        // O_TMPFILE makes a file that gets its name later.
        ["open", [0, 0o20200000]],
        ["openat", [0, 0, 0o20200002]],
      ];
      for (const [name, before] of modes) {
        if (FILTERED_CALLS[name][column] === undefined) continue;
        const call = (mode: number): string => judge(filter, { number: number(name), arch, args: [...before, mode] });
        for (const mode of [0o4755, 0o2755, 0o6000, 0o104755, 2 ** 32 + 0o4755]) {
          assert.equal(call(mode), "EPERM", `${name} ${mode.toString(8)}`);
        }
        for (const mode of [0, 0o755, 0o1777]) assert.equal(call(mode), ALLOWED, `${name} ${mode.toString(8)}`);
      }
    });

    test("looks at no mode where nothing is created", () => {
      if (architecture === "x64") assert.equal(judge(filter, { number: 2, arch, args: [0, 0, 0o6755] }), ALLOWED);
      assert.equal(judge(filter, { number: number("openat"), arch, args: [0, 0, 0o2000000, 0o6755] }), ALLOWED);
    });

    test("makes no device, and changes no personality", () => {
      assert.equal(judge(filter, { number: number("mknodat"), arch, args: [0, 0, 0x2000] }), "EPERM");
      assert.equal(judge(filter, { number: number("mknodat"), arch, args: [0, 0, 0x6000 | 0o600] }), "EPERM");
      assert.equal(judge(filter, { number: number("mknodat"), arch, args: [0, 0, 0x1000 | 0o600] }), ALLOWED);
      assert.equal(judge(filter, { number: number("personality"), arch, args: [0xffffffff] }), ALLOWED);
      assert.equal(judge(filter, { number: number("personality"), arch, args: [0x40000] }), "EPERM");
    });
  });
}

test("the x32 calls of x86-64 are killed", () => {
  assert.equal(judge(filterFor(), { number: 0x40000000 }), "killed");
  assert.equal(judge(filterFor(), { number: 0x40000208 }), "killed");
});

test("a jump that does not fit, and one to nowhere, is refused", () => {
  const far = new BpfProgram().ifEqual(1, "end");
  for (let i = 0; i < 300; i++) far.returnAction(0);
  assert.throws(() => far.label("end").returnAction(0).encode(), RangeError);
  assert.throws(() => new BpfProgram().ifEqual(1, "nowhere").encode(), TypeError);
});
