import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { runCommand } from "../repository/run-command.ts";
import { type Installation, stop } from "./installation.ts";

/** Code that a kernel of this installation loads. npm puts it beside the package, in the project's own directory. */
const LOADED = [
  "node_modules/narthex/bin/narthex.js",
  "node_modules/@cedar-policy/cedar-wasm/package.json",
  "node_modules/@napi-rs/blake-hash/index.js",
  `node_modules/@napi-rs/blake-hash-linux-${process.arch}-gnu/package.json`,
  "node_modules/@vscode/ripgrep/package.json",
  `node_modules/node-linux-${process.arch}/package.json`,
  "node_modules/.bin/narthex",
];
/** The Node that npm runs it with: a link to the one that came with it. */
const NODE = "node_modules/.bin/node";
/** Where Node would look for it first. */
const VACANT = [`node_modules/@napi-rs/node_modules/@napi-rs/blake-hash-linux-${process.arch}-gnu/index.js`];
const RULE = '@id("test-shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n';

/** Where the project that narthex is installed in is itself the workspace. */
export async function refuseOwnProject(at: Installation): Promise<void> {
  const workspace = ["--workspace", at.folder];
  for (const words of [
    ["session", "open", ...workspace],
    ["mcp", ...workspace],
    ["connect", "claude", ...workspace],
  ]) {
    const { code, output } = await at.run(words);
    assert.equal(code, 4, output);
    assert.match(output, /narthex runs from `.*node_modules\/narthex`, which an agent in the workspace/);
    assert.match(output, /npm run install:global.*own_code: allow.*--allow-own-code/);
  }
  const kernel = at.start(["serve", "--listen", "127.0.0.1:0", "--json"]);
  await createInterface({ input: kernel.stdout })[Symbol.asyncIterator]().next();
  const asked = await at.run(["session", "open", ...workspace, "--allow-own-code"]);
  await stop(kernel);
  assert.equal(asked.code, 4, asked.output);
  assert.match(asked.output, /narthex runs from/);
}

export async function warnOnce(at: Installation): Promise<void> {
  // One that a client started ends a while after it.
  await at.run(["stop"]);
  const program = `import { createKernel } from "narthex";
    const said = [];
    const kernel = await createKernel({ log: (level, message) => said.push(level + " " + message) });
    for (let times = 0; times < 2; times++) await (await kernel.session({ workspace: process.cwd() })).close();
    await kernel.close();
    console.log(said.filter((line) => line.includes("narthex runs from")).join("\\n"));`;
  const words = ["--input-type=module", "--eval", program];
  const { code, output } = await runCommand(process.execPath, words, { cwd: at.folder, env: at.environment });
  assert.equal(code, 0, output);
  assert.match(output, /^warn narthex runs from `.*node_modules\/narthex`, which an agent [^\n]*\n$/);
}

export async function keepOwnCode(at: Installation): Promise<void> {
  const before = await digests(at);
  const kernel = at.start(["serve", "--listen", "127.0.0.1:0", "--json", "--allow-own-code"]);
  await createInterface({ input: kernel.stdout })[Symbol.asyncIterator]().next();
  const policy = join(at.environment["NARTHEX_DATA"] ?? "", "policy/test.cedar");
  await writeFile(policy, RULE);
  assert.equal((await at.run(["policy", "reload"])).code, 0);
  await mkdir(join(at.folder, "node_modules/other"), { recursive: true });
  await symlink("node_modules/@vscode", join(at.folder, "link"));
  const words = ["session", "open", "--workspace", at.folder, "--allow-own-code", "--adopt", "--json"];
  const opened = await at.run(words);
  assert.equal(opened.code, 0, opened.output);
  const { session_id: session } = JSON.parse(opened.output) as { session_id: string };
  const call = (tool: string, input: object) =>
    at.run(["call", tool, JSON.stringify(input), "--session", session, "--json"]);
  const write = (path: string) => call("file_write", { path, content: "changed" });

  const others = ["link/ripgrep/package.json", "node_modules/@VSCODE/Ripgrep/package.json"];
  for (const path of [...LOADED, ...VACANT, ...others]) {
    const { output } = await write(path);
    assert.match(output, /is protected/, path);
  }
  assert.notEqual((await call("file_delete", { path: NODE })).code, 0);
  for (const [tool, input] of [
    ["file_delete", { path: "node_modules/@napi-rs", recursive: true }],
    ["file_move", { source: "node_modules/@cedar-policy", destination: "moved" }],
    ["file_move", { source: "node_modules/other", destination: "node_modules/@napi-rs/node_modules" }],
  ] as const) {
    const { output } = await call(tool, input);
    assert.match(output, /is protected/, JSON.stringify(input));
  }
  const script = [
    ...[...LOADED, ...VACANT, NODE].map(
      (path) => `mkdir -p "$(dirname ${path})"; echo changed > ${path}; rm -f ${path}`,
    ),
    "mv node_modules/@napi-rs moved; mv node_modules moved; rm -rf node_modules/@cedar-policy",
    ...VACANT.map((path) => `mkdir -p "$(dirname ${path})"; echo changed > ${path}`),
  ].join("\n");
  const ran = await call("shell_exec", { command: `(${script}) 2>/dev/null; echo done > node_modules/other/done` });
  // Links and places where nothing is cannot be mounted over: they are put back afterwards.
  assert.match(ran.output, /UNDECLARED_EFFECT.*`node_modules\/\.bin\/narthex`, `node_modules\/\.bin\/node`/);
  const plain = await write("node_modules/other/index.js");
  await stop(kernel);

  assert.equal(plain.code, 0, "what is not its code can be written");
  assert.equal(await readFile(join(at.folder, "node_modules/other/done"), "utf8"), "done\n");
  assert.deepEqual(await digests(at), before);
  for (const path of VACANT) await assert.rejects(stat(join(at.folder, path)), path);
}

async function digests({ folder }: Installation): Promise<string[]> {
  const link = await readlink(join(folder, NODE));
  const files = await Promise.all(
    LOADED.map(async (path) => {
      const content = await readFile(join(folder, path));
      return `${path} ${createHash("sha256").update(content).digest("hex")}`;
    }),
  );
  return [...files, link];
}
