import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import { cp, lstat, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { type AttackedKernel, type AttackSession, startAttackedKernel } from "./support/attacked-kernel.ts";
import { findInCaches } from "./support/program-caches.ts";
import { EXPECTED_REFUSALS } from "./support/expected-refusals.ts";
import { type HostServices, startHostServices } from "./support/host-services.ts";

const PROGRAMS = ["attempts.py", "attack-syscalls.py", "attack-surroundings.py"];

let at: AttackedKernel;
let session: AttackSession;
let services: HostServices;
let surroundings: JsonObject;
let otherScratch: string;
const abstractSocket = `narthex-attack-${process.pid}`;

before(async () => {
  // Open files that whoever starts a kernel may leave it with: a directory of the host, and a secret.
  const inherited = [openSync("/", "r"), openSync("/etc/passwd", "r")];
  at = await startAttackedKernel({ inherited });
  for (const fd of inherited) closeSync(fd);
  for (const name of PROGRAMS) {
    await cp(fileURLToPath(new URL(`./support/${name}`, import.meta.url)), at.at(name));
  }
  services = await startHostServices([at.at("service"), `@${abstractSocket}`]);
  await services.prove();
  session = await at.open();
  otherScratch = await fillOtherSession();
  await writeFile(at.at("places.json"), JSON.stringify(await places()));
  surroundings = JSON.parse((await session.shell("python3 attack-surroundings.py places.json")).stdout) as JsonObject;
});
after(async () => {
  await services.close();
  await at.remove();
});

/** Another session on another workspace, with something in its scratch directory and in its home. */
async function fillOtherSession(): Promise<string> {
  const other = await at.open(await at.makeWorkspace("other"));
  const command = "echo mine > /scratch/mine && echo mine > ~/mine && cat /scratch/mine ~/mine";
  assert.equal((await other.shell(command)).stdout, "mine\nmine\n");
  const files = await findInCaches(at.home, "mine");
  assert.equal(files.length, 2, "the other session's files lie where they are looked for");
  return files.find((path) => path.includes("scratch")) ?? assert.fail();
}

async function places(): Promise<JsonObject> {
  await mkdir(join(at.outside, "empty"));
  return {
    paths: {
      outside: at.outside,
      "a file outside": join(at.outside, "file"),
      "the kernel's home": at.home,
      "the kernel's store": join(at.home, "store"),
      "the kernel's policy": join(at.home, "policy"),
      "the kernel's sockets": join(at.home, "run"),
      "the admin token": join(at.home, "run/admin.token"),
      "another session's scratch": otherScratch,
      "another workspace": join(at.root, "other"),
    },
    kernel_pid: at.pid,
    tcp_port: services.tcpPort,
    udp_port: services.udpPort,
    address: services.address,
    workspace_socket: "/workspace/service",
    abstract_socket: abstractSocket,
  };
}

const found = (name: string): JsonValue => surroundings[name] ?? assert.fail(`nothing was reported of: ${name}`);
const namesWith = (start: string): string[] => Object.keys(surroundings).filter((name) => name.startsWith(start));

describe("a program that tries every escape from its sandbox", { timeout: 120_000 }, () => {
  test("is refused every system call that leads out, as the table lists", async () => {
    const { stdout, stderr } = await session.shell("python3 attack-syscalls.py");
    const report = new Map(Object.entries(JSON.parse(stdout || JSON.stringify({ stderr })) as Record<string, string>));
    for (const [name, allowed] of EXPECTED_REFUSALS) {
      const outcome = report.get(name) ?? "nothing was reported";
      assert.ok(allowed.includes(outcome), `${name}: ${outcome}, and not ${allowed.join(" or ")}`);
    }
    assert.deepEqual(
      [...report.keys()].filter((name) => !EXPECTED_REFUSALS.has(name)),
      [],
    );
  });

  test("leaves behind no setuid or setgid file", async () => {
    await session.shell("cp /usr/bin/dash lent; chmod 6755 lent; chmod g+s .; tar -cf t.tar lent; tar -xpf t.tar");
    const names = await readdir(at.workspace, { recursive: true });
    assert.ok(names.includes("lent") && names.some((name) => name.startsWith("plain-")), "there were files to look at");
    const stats = await Promise.all([".", ...names].map((name) => lstat(join(at.workspace, name))));
    assert.deepEqual(
      stats.filter(({ mode }) => (mode & 0o6000) !== 0),
      [],
    );
  });

  test("finds nothing of the host: no home, no kernel, no other session, no device, by path or through another process", () => {
    const names = [...namesWith("hidden "), ...namesWith("place ")];
    assert.equal(names.length, 29 + 2 * 9);
    assert.deepEqual(
      names.map((name) => `${name}: ${String(found(name))}`),
      names.map((name) => `${name}: ${onTheWayToNode(name) ?? "ENOENT"}`),
    );
    assert.equal(found("kernel process killed"), "ESRCH");
    assert.equal(found("kernel process seen"), "ENOENT");
    assert.deepEqual(
      found("devices"),
      ["full", "null", "pts/ptmx", "random", "tty", "urandom", "zero"].map((name) => `/dev/${name}`),
    );
  });

  test("changes no kernel setting, and creates nothing outside its own directories", () => {
    const refusals = new Set(["EACCES", "EPERM", "EROFS", "ENOENT"]);
    const names = [
      ...namesWith("write "),
      ...namesWith("create "),
      "read /proc/kcore",
      "read /proc/kmsg",
      "append to /etc/passwd",
    ];
    assert.equal(names.length, 19 + 7 + 3);
    for (const name of names) assert.ok(refusals.has(String(found(name))), `${name}: ${String(found(name))}`);
    const writable = ["/home/agent", "/proc", "/scratch", "/tmp", "/workspace", "/dev/shm", "/dev/pts"];
    const devices = ["full", "null", "random", "tty", "urandom", "zero"].map((name) => `/dev/${name}`);
    assert.deepEqual(found("writable mounts"), [...writable, ...devices].sort());
  });

  test("sees only its own processes, and no secret in their environments, arguments or open files", () => {
    const commands = Object.values(found("command lines") as Record<string, string>);
    assert.ok(commands.length >= 2, "processes were looked at");
    // The sandbox's own first process is covered.
    for (const command of commands) assert.match(command, /^(?:ENOENT$|python3\0)/);
    const environments = Object.values(found("environments") as Record<string, string>);
    assert.ok(environments.some((text) => text.includes("HOME=/home/agent")));
    assert.ok(!JSON.stringify(surroundings).includes(at.secret));
    assert.ok(!/ATTACK_SECRET|NARTHEX_DATA|TOKEN/.test(JSON.stringify(environments)));
    // Three streams, and the directory that `ls` has open itself.
    assert.deepEqual(found("own files"), ["0", "1", "2", "3"]);
    const harmless = /^(?:socket:|pipe:|anon_inode:\[eventfd\]$|\/dev\/null$|ENOENT$|EACCES$|ESRCH$)/;
    for (const target of Object.values(found("open files") as Record<string, string[]>).flat()) {
      if (!target.startsWith(`${at.temporary}/narthex-pipes-`)) assert.match(target, harmless);
    }
    for (const [root] of Object.values(found("roots") as Record<string, string[]>))
      assert.match(root ?? "", /^(?:\/|E[A-Z]+)$/);
  });

  test("has no capability, cannot gain another user through setuid programs, and keeps its limits", () => {
    const { Uid, Gid, Groups, ...others } = found("status") as Record<string, string>;
    const none = "0".repeat(16);
    const caps = { CapInh: none, CapPrm: none, CapEff: none, CapBnd: none, CapAmb: none };
    assert.deepEqual(others, { ...caps, NoNewPrivs: "1", Seccomp: "2" });
    assert.ok(!`${Uid} ${Gid} ${Groups}`.split(" ").includes("0"), `${Uid} ${Gid} ${Groups}`);
    assert.equal(found("setuid programs run"), "refused");
    assert.ok((found("setuid programs") as string[]).length > 0, "there were some to run");
    assert.match(String(found("out-of-memory score lowered")), /EACCES|EPERM/);
    assert.match(String(found("niceness lowered")), /EACCES|EPERM/);
  });

  test("reaches no address: the host's loopback, its own address, the metadata service, a name server", () => {
    const refused = /^(?:ECONNREFUSED|ENETUNREACH|EADDRNOTAVAIL|EHOSTUNREACH|EPERM|EACCES)$/;
    const names = [...namesWith("connect "), "send to a name server", "send to an abstract socket"];
    assert.equal(names.length, 6);
    for (const name of names) assert.match(String(found(name)), refused, name);
    assert.equal(found("resolve a name"), "not found");
    assert.deepEqual(found("interfaces"), ["all", "default", "lo"]);
  });

  test("cannot connect to any socket of the host", () => {
    assert.ok(namesWith("send ").length === 4, "it was tried");
    assert.deepEqual(services.heard, []);
  });
});

/** Programs get the kernel's Node where it lies, and of the directories above it what leads there. */
function onTheWayToNode(name: string): string | undefined {
  const path = name.replace(/^hidden /, "");
  if (!process.execPath.startsWith(`${path}/`)) return undefined;
  return `directory: ${process.execPath.slice(path.length + 1).split("/")[0]}`;
}
