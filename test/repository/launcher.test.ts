import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { runCommand } from "./run-command.ts";
import { createTemporaryTree } from "./temporary-tree.ts";

const BIN = join(REPOSITORY, "packages/narthex/bin");
const PINNED = `node-${process.platform}-${process.arch}`;
/** Makes a Node say that it is old, for machines that have no old one. */
const PRETEND_OLD = [
  "--import",
  `data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.0.0" } })`,
];

const COMMAND = `
  export async function runCli(words: readonly string[]): Promise<number> {
    const asked = new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()));
    console.log(process.versions.node, ...words);
    if (words[0] === "wait") {
      const alive = setInterval(() => {}, 1000);
      await asked;
      clearInterval(alive);
      console.log("asked to end");
    }
    if (words[0] === "die") process.kill(process.pid, "SIGKILL");
    return 7;
  }`;

function createInstallation(context: TestContext, folder: string, extra: Readonly<Record<string, string>>): string {
  const files = ["narthex.js", "node-version.js", "pinned-node.js"];
  const root = createTemporaryTree(context, {
    [`${folder}/package.json`]: `{ "name": "narthex", "type": "module" }`,
    ...Object.fromEntries(files.map((file) => [`${folder}/bin/${file}`, readFileSync(join(BIN, file), "utf8")])),
    ...extra,
  });
  return join(root, folder, "bin/narthex.js");
}

function createCheckout(context: TestContext): string {
  return createInstallation(context, "packages/narthex", {
    "packages/narthex/src/cli.ts": COMMAND,
    [`node_modules/${PINNED}/package.json`]: `{ "name": "${PINNED}" }`,
    [`node_modules/${PINNED}/bin/node`]: `-> ${process.execPath}`,
  });
}

test("an old Node without the pinned one says what to install", async (context) => {
  const launcher = createInstallation(context, "packages/narthex", { "packages/narthex/src/cli.ts": COMMAND });
  const end = await runCommand(process.execPath, [...PRETEND_OLD, launcher, "a"]);
  assert.equal(end.code, 5);
  assert.match(
    end.output,
    /^narthex: Node 24 or newer is needed, and this is v\S+: install it, or [^\n]*: npm install node-\S+@24\n$/,
  );
});

test("an old Node hands over to the pinned one, with its arguments and exit code", async (context) => {
  const end = await runCommand(process.execPath, [...PRETEND_OLD, createCheckout(context), "a b", "--c"]);
  assert.equal(end.output, `${process.versions.node} a b --c\n`);
  assert.equal(end.code, 7);
});

test("a signal reaches the program, which decides how it ends", async (context) => {
  const end = await runCommand(process.execPath, [...PRETEND_OLD, createCheckout(context), "wait"], {
    onFirstOutput: (child) => child.kill("SIGTERM"),
  });
  assert.match(end.output, /asked to end\n$/);
  assert.deepEqual([end.code, end.signal], [7, null]);
});

test("a program killed by a signal ends the launcher with that signal", async (context) => {
  const end = await runCommand(process.execPath, [...PRETEND_OLD, createCheckout(context), "die"]);
  assert.deepEqual([end.code, end.signal], [null, "SIGKILL"]);
});

test("a new Node runs the sources of a checkout itself", async (context) => {
  const end = await runCommand(process.execPath, [createCheckout(context), "a"]);
  assert.equal(end.output, `${process.versions.node} a\n`);
  assert.equal(end.code, 7);
});

test("an installed package runs its build, even if sources are beside it", async (context) => {
  const launcher = createInstallation(context, "node_modules/narthex", {
    "node_modules/narthex/src/cli.ts": COMMAND,
    "node_modules/narthex/dist/cli.js": "export const runCli = async () => { console.log('built'); return 0; };",
  });
  const end = await runCommand(process.execPath, [launcher]);
  assert.deepEqual([end.code, end.output], [0, "built\n"]);
});

test("the command works on every Node on this machine", async () => {
  const { version } = JSON.parse(readFileSync(join(BIN, "../package.json"), "utf8")) as { version: string };
  for (const node of new Set([process.execPath, ...listNodes()])) {
    const end = await runCommand(node, [join(BIN, "narthex.js"), "--version"]);
    assert.deepEqual([end.code, end.output.trim()], [0, version], node);
  }
});

function listNodes(): string[] {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "node"))
    .filter((node) => existsSync(node) && spawnSync(node, ["--version"]).status === 0);
}
