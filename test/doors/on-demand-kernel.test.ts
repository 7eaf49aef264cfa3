import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdir, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { endKernels, kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { openReconnectingLink } from "../../packages/narthex/src/connection/reconnecting-link.ts";
import { VERSION } from "../../packages/narthex/src/version.ts";
import { ended, objectOf, parseObject, type TestHome, textOf } from "../cli/home.ts";
import { openOtherVersions, type OtherVersions } from "./mcp/other-version.ts";
import { createSharedHome, holderOf, until } from "./mcp/shared-home.ts";
import { connectLines, type LineClient } from "./mcp/line-client.ts";

/** It ends half a second after its last client. */
const CONFIGURATION = `timeouts: { idle_ms: 500 }
secrets: { key: { env: TEST_ON_DEMAND_KEY } }
`;

describe("a kernel started by a client", { timeout: 120_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createSharedHome();
    await writeFile(join(at.home, "narthex.yaml"), CONFIGURATION, { mode: 0o600 });
  });
  after(() => at.remove());

  const startClient = (env: NodeJS.ProcessEnv = {}): Promise<LineClient> =>
    connectLines(at.start(["mcp", "--workspace", at.workspace], { env }));
  const start = (program: string, times = {}) =>
    openReconnectingLink({
      home: at.home,
      environment: process.env,
      request: { workspace: at.workspace, labels: [], adopt: false, ...NOT_SAID },
      renew: true,
      allowOwnCode: false,
      program,
      log: () => undefined,
      signal: new AbortController().signal,
      times,
    });

  it("reports why it cannot start, and the client repeats the reason and ends", async () => {
    await writeFile(join(at.home, "narthex.yaml"), "timeouts: { idle: 1 }\n", { mode: 0o600 });
    const { code, stdout, stderr } = await at.run(["mcp", "--workspace", at.workspace]);
    assert.deepEqual([code, stdout], [4, ""], stderr);
    assert.match(stderr, /error: .*narthex\.yaml.* unknown key `timeouts\.idle`/);
    await writeFile(join(at.home, "narthex.yaml"), CONFIGURATION, { mode: 0o600 });
  });

  it("is tried three times if it ends without a message, and the end of its log is shown", async () => {
    const program = join(at.root, "crashing.js");
    await writeFile(program, `process.stderr.write("it broke: attempt\\n"); process.exit(3);`);
    await assert.rejects(start(program), {
      code: "KERNEL_UNREACHABLE",
      message: "the kernel ended 3 times while it started (exit code 3): it broke: attempt",
    });
    const log = await readFile(join(at.home, "run/kernel.log"), "utf8");
    assert.equal(log.match(/it broke: attempt/g)?.length, 3);
  });

  it("is waited for with a time limit", async () => {
    const program = join(at.root, "sleeping.js");
    await writeFile(program, "setInterval(() => undefined, 1000);");
    await assert.rejects(start(program, { startMs: 100 }), { code: "KERNEL_UNREACHABLE", message: /in time$/ });
    await endKernels(() => kernelsOf(at.home));
  });

  it("waits for a command that holds the home", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", HOLD_HOME, at.home], {
      cwd: import.meta.dirname,
      stdio: ["pipe", "pipe", "inherit"],
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const connecting = startClient();
    await until(async () => (await kernelsOf(at.home)).length > 0);
    child.stdin.end();
    const client = await connecting;
    assert.match(await client.call("echo", { text: "hello" }), /hello/);
    assert.equal(await client.leave(), 0);
  });

  it("ends by itself after its last client, and not while a client or a command is connected", async () => {
    const client = await startClient();
    const kernel = await holderOf(at);
    const watch = at.start(["watch"]);
    await until(async () => Number((await at.ask(["status"]))["clients"]) === 1);
    assert.equal(await client.leave(), 0);
    // Longer than it stays without anyone.
    await new Promise((resolve) => setTimeout(resolve, 800));
    assert.deepEqual(await kernelsOf(at.home), [kernel]);
    watch.kill("SIGTERM");
    await ended(watch);
    await until(async () => (await kernelsOf(at.home)).length === 0);
    assert.deepEqual(await at.ask(["status"]), { running: false });
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });

  it("inherits nothing of its client's environment, directory and descriptors", async () => {
    const env = {
      TEST_ON_DEMAND_KEY: "a secret value",
      TEST_LEAK: "leaked",
      NODE_OPTIONS: "--no-warnings",
      LC_ALL: "C",
    };
    // A descriptor beyond a gap in the numbers, which Node hands on to children.
    const words = ["-c", 'exec "$@" 63<&0', "bash", process.execPath, at.program, "mcp", "--workspace", at.workspace];
    const given = { ...process.env, ...env, HOME: at.root, NARTHEX_DATA: at.home };
    const client = await connectLines(spawn("bash", words, { env: given, stdio: ["pipe", "pipe", "pipe"] }));
    const kernel = await holderOf(at);
    const environment = (await readFile(`/proc/${kernel}/environ`, "utf8")).split("\0").filter((text) => text !== "");
    const names = environment.map((text) => text.slice(0, text.indexOf("=")));
    for (const name of ["TEST_LEAK", "NODE_OPTIONS", "NARTHEX_TEST_COMMAND"]) assert.ok(!names.includes(name), name);
    assert.ok(environment.includes("TEST_ON_DEMAND_KEY=a secret value"));
    assert.ok(environment.includes("LC_ALL=C"));
    // Whether people find the command by its name is told, because the PATH is not.
    assert.ok(!names.includes("NARTHEX_ON_PATH"));
    assert.ok(environment.includes("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"));
    assert.equal(await readlink(`/proc/${kernel}/cwd`), "/");
    const own = await pipesOf(client.child.pid ?? 0);
    assert.ok(own.length > 0);
    assert.deepEqual(
      (await pipesOf(kernel)).filter((pipe) => own.includes(pipe)),
      [],
    );
    assert.equal((await stat(join(at.home, "run/kernel.log"))).mode & 0o777, 0o600);
    assert.equal(await client.leave(), 0);
    await at.ask(["stop"]);
  });

  it("gives programs of a session only that session's client's PATH", async () => {
    const directories = await Promise.all(["one", "two"].map((name) => makeProgram(at, name)));
    const clients = await Promise.all(
      directories.map((directory) => startClient({ PATH: `${directory}:relative:${at.workspace}:/usr/bin:/bin` })),
    );
    const said = await Promise.all(clients.map((client) => client.call("shell_exec", { command: "say-who; exit 0" })));
    assert.match(said[0] ?? "", /this is one/);
    assert.match(said[1] ?? "", /this is two/);
    const paths = await Promise.all(clients.map((client) => client.call("shell_exec", { command: "echo $PATH" })));
    for (const path of paths) assert.doesNotMatch(path, /relative|workspace:/);
    await Promise.all(clients.map((client) => client.leave()));
  });
});

describe("two versions of narthex on one home", { timeout: 180_000 }, () => {
  let at: TestHome;
  let versions: OtherVersions;
  let older: LineClient;
  const programs = new Map<string, string>();
  before(async () => {
    versions = await openOtherVersions();
    at = await createSharedHome();
    for (const version of ["0.0.9", "99.0.0"]) programs.set(version, await versions.copyAs(version, at.root));
  });
  after(async () => {
    await at.remove();
    await versions[Symbol.asyncDispose]();
  });

  const connect = (version: string): Promise<LineClient> =>
    connectLines(
      spawn(process.execPath, [programs.get(version) ?? versions.program, "mcp", "--workspace", at.workspace], {
        cwd: at.root,
        env: { HOME: at.root, NARTHEX_DATA: at.home, PATH: process.env["PATH"] ?? "" },
        stdio: ["pipe", "pipe", "pipe"],
      }),
    );
  const versionOfHolder = async (): Promise<string> =>
    textOf(parseObject(await readFile(join(at.home, "run/holder.json"), "utf8"))["version"]);

  it("replace an older kernel in order: a running call finishes, and its client continues", async () => {
    older = await connect("0.0.9");
    assert.equal(await versionOfHolder(), "0.0.9");
    const command = "echo begun > begun; while [ -e begun ]; do sleep 0.05; done; echo over";
    const running = older.call("shell_exec", { command });
    await until(() =>
      stat(join(at.workspace, "begun")).then(
        () => true,
        () => false,
      ),
    );
    const connecting = connect(VERSION);
    // It is asked to finish, and has the home until then.
    await until(async () => (await kernelsOf(at.home)).length === 2);
    const waiting = older.call("echo", { text: "waited" });
    await rm(join(at.workspace, "begun"));
    assert.match(await running, /over/);
    const newer = await connecting;
    assert.equal(await versionOfHolder(), VERSION);
    assert.match(await waiting, /waited/);
    assert.match(await newer.call("echo", { text: "newer" }), /newer/);
    assert.equal(await newer.leave(), 0);
  });

  it("share a newer kernel, which no older client replaces", async () => {
    const newest = await connect("99.0.0");
    const kernel = await holderOf(at);
    assert.equal(await versionOfHolder(), "99.0.0");
    const clients = await Promise.all(["0.0.9", VERSION].map(connect));
    for (const client of [older, newest, ...clients])
      assert.match(await client.call("echo", { text: "hello" }), /hello/);
    assert.equal(await holderOf(at), kernel);
    await until(async () => (await kernelsOf(at.home)).length === 1);
    await Promise.all([newest, ...clients].map((client) => client.leave()));
  });

  it("do not replace `serve`, which takes the home whatever its version", async () => {
    const serving = await at.serve();
    const clients = [older, ...(await Promise.all(["99.0.0", VERSION].map(connect)))];
    for (const client of clients) assert.match(await client.call("echo", { text: "hello" }), /hello/);
    assert.equal(await holderOf(at), serving.child.pid);
    await Promise.all(clients.map((client) => client.leave()));
    const busy = await at.ask(["serve", "--listen", "127.0.0.1:0"], 5);
    assert.match(textOf(objectOf(busy["error"])["message"]), /`serve` \(process \d+, since/);
    assert.equal(await serving.stop(), 0);
  });
});

const NOT_SAID = {
  workingDirectory: undefined,
  tenant: undefined,
  user: undefined,
  agent: undefined,
  seed: undefined,
  lease: undefined,
  ttlMs: undefined,
};

/** Holds the home of its argument until its input ends, as a short command does. */
const HOLD_HOME = `
import { openHome } from "@narthex/host";
const home = await openHome({ path: process.argv[1], command: "call", waitMs: 20000 });
console.log("held");
process.stdin.resume().on("end", () => home.close());
`;

async function makeProgram(at: TestHome, name: string): Promise<string> {
  const directory = join(at.root, "programs", name);
  await mkdir(directory, { recursive: true });
  for (const path of [join(at.root, "programs"), directory]) await chmod(path, 0o755);
  await writeFile(join(directory, "say-who"), `#!/bin/sh\necho this is ${name}\n`);
  await chmod(join(directory, "say-who"), 0o755);
  return directory;
}

async function pipesOf(pid: number): Promise<string[]> {
  const links = await Promise.all(
    (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => "")),
  );
  return links.filter((link) => link.startsWith("pipe:"));
}
