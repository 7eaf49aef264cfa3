import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type AttackedKernel, type AttackSession, startAttackedKernel } from "./support/attacked-kernel.ts";
import { findInCaches } from "./support/program-caches.ts";
import { type HostServices, startHostServices } from "./support/host-services.ts";
import { treeFacts } from "./support/tree-facts.ts";

let at: AttackedKernel;
let session: AttackSession;
let services: HostServices;
let outside: Record<string, string>;
let system: string;

before(async () => {
  at = await startAttackedKernel();
  services = await startHostServices([]);
  await services.prove();
  session = await at.open();
  outside = await treeFacts(at.outside);
  system = await systemFacts();
});
after(async () => {
  await services.close();
  await at.remove();
});

/** What an attacker on this host would change first. */
async function systemFacts(): Promise<string> {
  const names = await Promise.all(
    ["/", "/etc", "/root", "/home", "/usr/bin", "/dev"].map((path) => readdir(path).catch(() => [])),
  );
  return JSON.stringify([
    names.map((list) => [...list].sort((left, right) => (left < right ? -1 : 1))),
    await readFile("/etc/passwd", "utf8"),
  ]);
}

/** Each was approved, and each must come to nothing outside: what it prints is shown if it does not. */
const APPROVED: ReadonlyArray<readonly [name: string, command: (place: AttackedKernel) => string]> = [
  [
    "everything is deleted from the root on",
    () => "rm -rf --no-preserve-root / 2>/dev/null; rm -rf /* ~/* 2>/dev/null",
  ],
  [
    "what lies beside the workspace is deleted",
    ({ outside: path }) => `rm -rf ../outside ${path} /workspace/../outside`,
  ],
  ["the system's passwords are read", () => "cat /etc/shadow /etc/sudoers /root/.ssh/* /root/.bash_history"],
  [
    "a secret outside is read by every name",
    ({ outside: path, pid }) =>
      `cat ${path}/file /proc/1/root${path}/file /proc/${pid}/root${path}/file /proc/self/cwd/../outside/file`,
  ],
  [
    "the kernel's environment is read",
    ({ pid }) => `cat /proc/${pid}/environ /proc/*/environ | tr '\\0' '\\n'; env; set; ps auxwwe`,
  ],
  [
    "files of the host are written by redirection",
    ({ outside: path }) =>
      `echo attack > ${path}/file; echo attack >> /etc/passwd; echo attack | tee /usr/bin/attack /etc/cron.d/attack`,
  ],
  [
    "a shell connects by its own device",
    () => `exec 3<>/dev/tcp/127.0.0.1/$PORT; echo attack >&3; exec 4<>/dev/udp/127.0.0.1/$UDP; echo attack >&4`,
  ],
  [
    "a file is fetched",
    () =>
      `curl -m 2 http://127.0.0.1:$PORT/; wget -T 2 -t 1 -qO- http://$ADDRESS:$PORT/; curl -m 2 http://169.254.169.254/; python3 -c "import urllib.request as u; u.urlopen('http://$ADDRESS:$PORT', timeout=2)"`,
  ],
  [
    "a file of the host is fetched by its URL",
    ({ outside: path }) =>
      `curl -s file://${path}/file; python3 -c "print(open('${path}/file').read())"; perl -e 'open F, "<", "${path}/file"; print <F>'`,
  ],
  [
    "git is told to run programs",
    ({ outside: path }) =>
      `git -c core.fsmonitor='cat ${path}/file' status; git clone 'ext::sh -c "cat ${path}/file"' x; git -C ${path} status`,
  ],
  [
    "find, awk and xargs run programs",
    ({ outside: path }) =>
      `find / -name file -path '*outside*' -exec cat {} + ; awk 'BEGIN{system("cat ${path}/file")}'; echo ${path}/file | xargs cat`,
  ],
  ["another user is asked for", () => "sudo -n cat /etc/shadow; su -c id; pkexec id; doas id; newgrp root </dev/null"],
  [
    "a job is left for later",
    () => "echo '* * * * * id' | crontab -; echo id | at now; systemctl --user start x; (setsid sleep 1000 &)",
  ],
  [
    "a library is put before all others",
    () => "echo 'int x;' > x.c; LD_PRELOAD=/workspace/x.so /usr/bin/passwd; LD_LIBRARY_PATH=/workspace su -c id",
  ],
  [
    "services of the host are asked",
    () =>
      "docker -H unix:///var/run/docker.sock ps; dbus-send --system / x.y; ssh-add -l; systemctl status; journalctl -n 1; mount; dmesg",
  ],
  [
    "the sandbox is taken apart",
    () =>
      "unshare -Ur id; nsenter -t 1 -a id; bwrap --bind / / id; chroot / id; mount -o remount,rw /; umount /proc/sys; ip link; insmod x",
  ],
];

describe("approved commands of every dangerous kind", { timeout: 180_000 }, () => {
  for (const [name, command] of APPROVED) {
    test(`${name}: the host is not read, changed or contacted`, async () => {
      const env = { PORT: String(services.tcpPort), UDP: String(services.udpPort), ADDRESS: services.address };
      const { stdout, stderr } = await session.shell(command(at), { env, timeout_ms: 60_000 });
      const printed = `${stdout}${stderr}`;
      assert.ok(!printed.includes(at.secret), `the secret was printed: ${printed}`);
      assert.ok(!/^uid=0|^root:[^x]/m.test(printed), printed);
      assert.deepEqual(await treeFacts(at.outside), outside);
      assert.equal(await systemFacts(), system);
      assert.deepEqual(services.heard, []);
      assert.equal((await session.shell("echo well")).stdout, "well\n");
    });
  }

  test("start-up files that a command writes land in the sandbox's own home, and nowhere else", async () => {
    const command =
      "for f in .bashrc .profile .npmrc .ssh/authorized_keys .config/autostart/x; do mkdir -p ~/$(dirname $f); echo attack > ~/$f; done; echo ~";
    assert.equal((await session.shell(command)).stdout, "/home/agent\n");
    assert.ok(!(await readdir(at.root)).some((name) => name.startsWith(".")), "the user's home was written");
    assert.equal((await findInCaches(at.home, ".bashrc")).length, 1);
    const other = await at.open(await at.makeWorkspace("other"));
    assert.equal((await other.shell("cat ~/.bashrc")).stdout, "");
  });

  test("a start-up file in the sandbox's home does not run in the next command", async () => {
    await session.shell("echo 'echo attacked' | tee ~/.bashrc ~/.bash_profile ~/.profile ~/.bash_env");
    assert.equal((await session.shell("echo plain")).stdout, "plain\n");
  });

  test("a NUL in a variable, a command or a directory adds no option to the sandbox", async () => {
    const option = `x\0--bind\0${at.outside}\0/workspace/attack`;
    for (const input of [
      { command: "cat /workspace/attack/file; ls /attack", env: { A: option } },
      { command: "ls /attack", env: { "A\0--bind\0/\0/attack\0--setenv\0B": "x" } },
      { command: `ls\0--bind\0/\0/attack` },
      { command: "ls", cwd: option },
    ]) {
      const answer = await session.call("shell_exec", input);
      assert.deepEqual([answer.status, answer.code], ["error", "INVALID_INPUT"], JSON.stringify(answer));
    }
    assert.deepEqual(await treeFacts(at.outside), outside);
  });

  test("variables that control loaders, shells and git change nothing outside the sandbox", async () => {
    const env = {
      BASH_ENV: `${at.outside}/file`,
      LD_PRELOAD: `${at.outside}/file`,
      HOME: at.root,
      PATH: at.outside,
      GIT_DIR: at.outside,
      NODE_OPTIONS: `--require ${at.outside}/file`,
    };
    const answer = await session.call("shell_exec", { command: "/bin/ls $HOME; echo attack > $HOME/.bashrc", env });
    assert.ok(!JSON.stringify(answer).includes(at.secret));
    assert.ok(!(await readdir(at.root)).includes(".bashrc"));
    assert.deepEqual(await treeFacts(at.outside), outside);
  });

  test("long, unusual and empty commands all get a response", async () => {
    const inputs = [
      { command: "" },
      { command: "x".repeat(70_000) },
      { command: `true ${"; true".repeat(60)}; cat ${join(at.outside, "file")}` },
      { command: `echo ${"y".repeat(60_000)} | wc -c` },
      { command: "echo \ud800" },
      { command: "ɡit status；rm x\u200d\u00a0\u202e" },
      {
        command:
          "for i in $(seq 200); do env env env env env env env env env true; done; head -c 1000000 /dev/zero | xargs -0 echo | wc -c",
      },
    ];
    for (const input of inputs) {
      const answer = await session.call("shell_exec", input);
      assert.ok(["success", "error", "denied"].includes(answer.status));
      assert.notEqual(answer.code, "INTERNAL", answer.message);
      assert.ok(!JSON.stringify(answer).includes(at.secret));
    }
  });
});
