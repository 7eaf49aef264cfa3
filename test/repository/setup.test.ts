import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type TestContext, test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { type CommandEnd, runCommand } from "./run-command.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const ROOT = 0;
const ORDINARY_USER = 1000;
const QUIET = "--no-audit --no-fund --loglevel=error";
const CI_RUN = `npm ci --omit=dev ${QUIET}`;
const CI_ALL = `npm ci --include=dev ${QUIET}`;
const ADD_REST = `npm install --no-save --include=dev ${QUIET}`;
const SCRIPTS = ["setup", "npm-packages", "directory-bytes", "install-progress", "run-program"];
const PRESENT = { "node_modules/a": { version: "1.0.0", integrity: "sha512-a" } };
const ABSENT = { "node_modules/for-another-machine": { version: "1.0.0", optional: true } };
const FOR_TESTS = { "node_modules/b": { version: "1.0.0", integrity: "sha512-b", dev: true } };
const LOCK = JSON.stringify({ packages: { "": {}, ...PRESENT, ...ABSENT, ...FOR_TESTS } });
const INSTALLED = {
  "node_modules/.package-lock.json": JSON.stringify({ packages: { ...PRESENT, ...FOR_TESTS } }),
  "node_modules/a/package.json": "{}",
  "node_modules/b/package.json": "{}",
};

interface Machine {
  readonly root: string;
  /** What was run, one line each. */
  readonly log: () => string[];
  readonly setUp: (command: string, uid?: number, platform?: string) => Promise<CommandEnd>;
}

/** A checkout, and stand-ins for every program the set-up may run. */
function createMachine(context: TestContext, programs: Readonly<Record<string, string>>, files = {}): Machine {
  const standIns = {
    npm: "mkdir -p node_modules",
    "dpkg-query": "echo installed",
    "apt-get": "",
    sudo: "exit 1",
    ...programs,
  };
  const root = createTemporaryTree(context, {
    "package-lock.json": LOCK,
    ...Object.fromEntries(SCRIPTS.map((name) => [`scripts/${name}.mjs`, readScript(name)])),
    "scripts/run.mjs": `
      import { setUp } from "./setup.mjs";
      process.getuid = () => Number(process.argv[3]);
      Object.defineProperty(process, "platform", { value: process.env.PLATFORM ?? "linux" });
      await setUp(process.argv[2]);`,
    log: "",
    ...files,
    ...Object.fromEntries(
      Object.entries(standIns).map(([name, text]) => [
        `programs/${name}`,
        `#!/bin/sh\necho "${name} $*" >> "$LOG"\n${text}\n`,
      ]),
    ),
  });
  const env = { LOG: join(root, "log"), PATH: `${join(root, "programs")}:/usr/bin:/bin` };
  return {
    root,
    log: () => readFileSync(join(root, "log"), "utf8").trimEnd().split("\n"),
    setUp: (command, uid = ROOT, platform = "linux") =>
      runCommand(process.execPath, [join(root, "scripts/run.mjs"), command, String(uid)], {
        cwd: root,
        env: { ...env, PLATFORM: platform },
      }),
  };
}

function npmCommands(machine: Machine): string[] {
  return machine.log().filter((line) => line.startsWith("npm"));
}

function readScript(name: string): string {
  return readFileSync(join(REPOSITORY, `scripts/${name}.mjs`), "utf8");
}

test("a failed package installation stops everything and shows why", async (context) => {
  const machine = createMachine(context, { npm: "echo 'no such package' >&2; exit 1" });
  const end = await machine.setUp("start");
  assert.equal(end.code, 1);
  assert.match(end.output, /no such package\n.*npm ci failed/s);
  assert.equal(existsSync(join(machine.root, "node_modules/.setup-stamp")), false);
});

test("packages and system packages are installed concurrently", async (context) => {
  const untilOther = (own: string, other: string): string =>
    `touch ${own}; for i in $(seq 600); do [ -e ${other} ] && exit 0; sleep 0.1; done; exit 1`;
  const machine = createMachine(context, {
    npm: `mkdir -p node_modules; ${untilOther("npm-began", "apt-began")}`,
    "dpkg-query": "exit 1",
    "apt-get": `[ "$1" = --version ] && exit 0; ${untilOther("apt-began", "npm-began")}`,
  });
  const end = await machine.setUp("start");
  assert.equal(end.code, 0, end.output);
  assert.doesNotMatch(end.output, /failed|going on without/);
});

test("a start installs only runtime packages, once for each lock file, and prints count, size and time", async (context) => {
  const machine = createMachine(context, { npm: "mkdir -p node_modules/a && echo {} > node_modules/a/package.json" });
  const printed = /^setup: installing packages \(npm ci --omit=dev\)\nsetup: 1 packages, 0 MB, in \d+ s\n$/;
  assert.match((await machine.setUp("start")).output, printed);
  assert.equal((await machine.setUp("start")).output, "");
  writeFileSync(join(machine.root, "package-lock.json"), LOCK.replace("sha512-a", "sha512-b"));
  assert.match((await machine.setUp("start")).output, printed);
  assert.deepEqual(npmCommands(machine), [CI_RUN, CI_RUN]);
});

test("tests add their packages to those of a start, and a start keeps them", async (context) => {
  const machine = createMachine(context, {});
  await machine.setUp("start");
  await machine.setUp("test");
  await machine.setUp("start");
  assert.deepEqual(npmCommands(machine), [CI_RUN, ADD_REST]);
  writeFileSync(join(machine.root, "package-lock.json"), LOCK.replace("sha512-a", "sha512-b"));
  await machine.setUp("start");
  assert.deepEqual(npmCommands(machine), [CI_RUN, ADD_REST, CI_ALL]);
});

test("packages installed by hand are kept if they are the right ones", async (context) => {
  const machine = createMachine(context, {}, INSTALLED);
  assert.equal((await machine.setUp("test")).output, "");
  const files = { ...INSTALLED, "package-lock.json": LOCK.replace("sha512-a", "sha512-b") };
  const changed = createMachine(context, {}, files);
  await changed.setUp("test");
  assert.deepEqual(npmCommands(changed), [CI_ALL]);
});

test("an installation shows its progress, in one line of a terminal or in several", async (context) => {
  const { root } = createMachine(context, {});
  const { showProgress } = (await import(join(root, "scripts/install-progress.mjs"))) as {
    showProgress: (paths: string[], options: object) => { stop(): void };
  };
  mkdirSync(join(root, "node_modules/a"), { recursive: true });
  writeFileSync(join(root, "node_modules/a/package.json"), "{}");
  const stream = new PassThrough();
  const progress = showProgress(["node_modules/a", "node_modules/b"], {
    stream: Object.assign(stream, { isTTY: true }),
  });
  const [shown] = (await once(stream, "data")) as [Buffer];
  progress.stop();
  assert.match(shown.toString(), /^\r\u001b\[Ksetup: 1 of 2 packages, \d+ s$/);
  const line = await runCommand(process.execPath, [
    "--input-type=module",
    "--eval",
    `import { showProgress } from "${join(root, "scripts/install-progress.mjs")}";
     const progress = showProgress(["node_modules/a"], { everyMs: 1 });
     setTimeout(() => progress.stop(), 50);`,
  ]);
  assert.match(line.output, /^setup: 1 of 1 packages, 0 s\n/);
});

test("system packages that cannot be installed are named with the lost features, and setup continues", async (context) => {
  const machine = createMachine(context, { "dpkg-query": `[ "$3" = git ] && echo installed` }, INSTALLED);
  const end = await machine.setUp("test", ORDINARY_USER);
  assert.equal(end.code, 0);
  assert.match(
    end.output,
    /^setup: going on without these system packages \(apt-get install protobuf-compiler .*\):\n/,
  );
  assert.match(end.output, /\n {2}python3-grpcio: \S/);
  assert.doesNotMatch(end.output, / git/);
  assert.equal(
    machine.log().some((line) => line.startsWith("apt-get")),
    false,
  );
});

test("a failing apt-get is tried twice, and setup continues", async (context) => {
  const machine = createMachine(context, { "dpkg-query": "exit 1", "apt-get": `[ "$1" = --version ]` }, INSTALLED);
  const end = await machine.setUp("test");
  assert.equal(end.code, 0);
  assert.match(end.output, /apt-get failed\nsetup: going on without/);
  assert.equal(machine.log().filter((line) => /^apt-get .* update$/.test(line)).length, 2);
});

test("installs only missing system packages, as root directly", async (context) => {
  const machine = createMachine(context, { "dpkg-query": `[ "$3" = git ] && echo installed` }, INSTALLED);
  const end = await machine.setUp("test");
  const names = /^setup: installing system packages \(apt-get\): (protobuf-compiler .*)\n$/.exec(end.output)?.[1] ?? "";
  assert.match(names, /^[a-z0-9]+(-[a-z0-9]+)*( [a-z0-9]+(-[a-z0-9]+)*){4,}$/);
  assert.equal(names.split(" ").includes("git"), false);
  assert.match(machine.log().at(-1) ?? "", new RegExp(`^apt-get .* install -y --no-install-recommends ${names}$`));
});

test("installs with sudo for a user who needs no password", async (context) => {
  const sudo = `shift; [ "$1" = true ] || exec "$@"`;
  const machine = createMachine(context, { "dpkg-query": "exit 1", sudo }, INSTALLED);
  const end = await machine.setUp("test", ORDINARY_USER);
  assert.match(end.output, /^setup: installing system packages .*\n$/);
  assert.match(machine.log().at(-2) ?? "", /^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .* install -y/);
});

test("a start installs the sandbox's packages, and none that only tests use", async (context) => {
  const machine = createMachine(context, { "dpkg-query": "exit 1" }, INSTALLED);
  const end = await machine.setUp("start");
  assert.equal(end.output, "setup: installing system packages (apt-get): bubblewrap\n");
  assert.match(machine.log().at(-1) ?? "", /^apt-get .* install -y --no-install-recommends bubblewrap$/);
});

test("a start that cannot install them says which tools are disabled, and continues", async (context) => {
  const machine = createMachine(context, { "dpkg-query": "exit 1" }, INSTALLED);
  const end = await machine.setUp("start", ORDINARY_USER);
  assert.equal(end.code, 0);
  assert.match(
    end.output,
    /^setup: going on without .*\(apt-get install bubblewrap\):\n {2}bubblewrap: .*tools refuse\n$/,
  );
});

test("another system than Linux gets a warning at once that programs are not contained there", async (context) => {
  const machine = createMachine(context, {}, INSTALLED);
  const end = await machine.setUp("start", ORDINARY_USER, "darwin");
  assert.match(end.output, /^setup: narthex contains programs on Linux only \(WSL 2 on Windows\)/);
});
