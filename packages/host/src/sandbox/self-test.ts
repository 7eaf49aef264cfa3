import { chmod, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxFiles, SandboxMachine } from "./sandbox-machine.ts";
import { DEFAULT_LIMITS, type SandboxIdentity, type SandboxPlan } from "./sandbox-plan.ts";
import { readAll } from "./read-all.ts";
import { type SandboxedProcess, spawnSandbox } from "./spawn-sandbox.ts";
import { removeOwnTree } from "../system/remove-own-tree.ts";

/** Result of one attempt from inside. */
export interface SelfTestCheck {
  readonly name: string;
  /** How it was tested. */
  readonly how: string;
  readonly holds: boolean;
  /** The observed value. */
  readonly found: string;
}

export interface SelfTestReport {
  readonly checks: readonly SelfTestCheck[];
  /** Why no check could be made at all. */
  readonly failure: string | undefined;
}

const MAX_REPORT_BYTES = 16 * 1024;

/**
 * Starts a real sandbox in which a program attempts what must be impossible. Reading system settings would prove
 * nothing: only actual behavior counts.
 */
export async function runSelfTest(
  machine: SandboxMachine,
  files: SandboxFiles,
  identity: SandboxIdentity,
): Promise<SelfTestReport> {
  const outside = await mkdtemp(join(tmpdir(), "narthex-self-test-"));
  try {
    // Readable by everyone on the host: the sandbox has to hide it, not a permission.
    await chmod(outside, 0o755);
    const canary = join(outside, "canary");
    await writeFile(canary, "outside", { mode: 0o644 });
    const process = await spawnSandbox(machine, files, planFor(identity), ["/bin/sh", "-c", SCRIPT, "sh", canary]);
    process.stderr.resume();
    const [uids, output] = await Promise.all([
      readHostUids(process),
      readAll(process.stdout, MAX_REPORT_BYTES),
      process.ended,
    ]);
    const found = parse(`${output.toString("utf8")}uids ${uids}`);
    return { checks: judge(found, identity), failure: undefined };
  } catch (fault) {
    return { checks: [], failure: fault instanceof Error ? fault.message : String(fault) };
  } finally {
    removeOwnTree(outside);
  }
}

/**
 * Reads the uids that the program has on the host, which cannot be seen from inside. The program waits until they were
 * read.
 */
async function readHostUids(process: SandboxedProcess): Promise<string> {
  try {
    const status = await readFile(`/proc/${await process.pid}/status`, "latin1");
    return /^Uid:\s*(.*)$/m.exec(status)?.[1] ?? "";
  } finally {
    process.stdin.end();
  }
}

function planFor(identity: SandboxIdentity): SandboxPlan {
  return {
    mounts: [],
    symlinks: [],
    environment: { PATH: "/usr/bin:/bin" },
    workingDirectory: "/tmp",
    limits: { ...DEFAULT_LIMITS, cpuMs: 10_000 },
    temporaryBytes: 1024 * 1024,
    socketFamilies: ["inet", "inet6"],
    mayFork: true,
    identity,
  };
}

/** Prints `name value` for each attempt. Every Debian has `perl`; without it, vsock is reported as `untried`. */
const SCRIPT = `
say() { printf '%s %s\\n' "$1" "$2"; }
while read -r key value rest; do
  case "$key" in CapEff:) say capabilities "$value";; NoNewPrivs:) say privileges "$value";; Seccomp:) say seccomp "$value";; esac
done < /proc/self/status
say interfaces "$(sed -n 's/^ *\\([^:]*\\):.*/\\1/p' /proc/net/dev | tr '\\n' ',')"
if (: > /usr/narthex-self-test) 2>/dev/null; then say usr written; rm -f /usr/narthex-self-test; else say usr refused; fi
if (: > /narthex-self-test) 2>/dev/null; then say root written; else say root refused; fi
if [ -e "$1" ]; then say canary visible; else say canary invisible; fi
if unshare -U true 2>/dev/null; then say namespaces made; else say namespaces refused; fi
if (cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname) 2>/dev/null; then say sysctl written; else say sysctl refused; fi
if mount -t tmpfs none /tmp 2>/dev/null; then say mount done; else say mount refused; fi
perl -e 'print "vsock ", socket(my $s, 40, 1, 0) ? "opened" : "refused", "\\n"' 2>/dev/null || say vsock untried
read -r until_seen
`;

interface Expectation {
  readonly name: string;
  readonly how: string;
  readonly key: string;
  holds(value: string, identity: SandboxIdentity): boolean;
}

const EXPECTATIONS: readonly Expectation[] = [
  { name: "no capabilities", how: "CapEff of a program inside", key: "capabilities", holds: (v) => /^0+$/.test(v) },
  { name: "no new privileges", how: "NoNewPrivs of a program inside", key: "privileges", holds: (v) => v === "1" },
  { name: "system calls filtered", how: "Seccomp of a program inside", key: "seccomp", holds: (v) => v === "2" },
  {
    name: "not root outside",
    how: "the users that the host takes it for",
    key: "uids",
    holds: (value, { uid }) => uid !== 0 && value.split(/\s+/).every((seen) => seen === String(uid)),
  },
  { name: "no network", how: "interfaces seen inside", key: "interfaces", holds: (v) => v === "lo," },
  { name: "system read-only", how: "a file created in /usr", key: "usr", holds: (v) => v === "refused" },
  { name: "root read-only", how: "a file created in /", key: "root", holds: (v) => v === "refused" },
  {
    name: "host invisible",
    how: "a file outside looked for by its path",
    key: "canary",
    holds: (v) => v === "invisible",
  },
  { name: "no new namespaces", how: "unshare -U inside", key: "namespaces", holds: (v) => v === "refused" },
  {
    name: "kernel settings read-only",
    how: "a setting in /proc/sys written",
    key: "sysctl",
    holds: (v) => v === "refused",
  },
  { name: "no mounts", how: "mount -t tmpfs inside", key: "mount", holds: (v) => v === "refused" },
  {
    name: "no vsock",
    how: "an AF_VSOCK socket opened",
    key: "vsock",
    holds: (v) => v === "refused" || v === "untried",
  },
];

function parse(output: string): ReadonlyMap<string, string> {
  return new Map(
    output.split("\n").map((line) => {
      const space = line.indexOf(" ");
      return [line.slice(0, space), line.slice(space + 1).trim()];
    }),
  );
}

/** A check without a reported value fails. */
function judge(found: ReadonlyMap<string, string>, identity: SandboxIdentity): SelfTestCheck[] {
  return EXPECTATIONS.map(({ name, how, key, holds }) => {
    const value = found.get(key);
    return { name, how, holds: value !== undefined && holds(value, identity), found: value ?? "nothing" };
  });
}
