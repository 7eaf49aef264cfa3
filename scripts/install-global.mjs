// Runs before anything is installed, on whatever Node npm runs on (16 or newer): no dependencies, no newer syntax.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { OLDEST_NODE_MAJOR } from "../packages/narthex/bin/node-version.js";
import { explainMissingNode, findPinnedNode } from "../packages/narthex/bin/pinned-node.js";
import { directoryBytes } from "./directory-bytes.mjs";
import { choosePrefix, globalPaths, pathProblem } from "./global-prefix.mjs";
import { ROOT, runProgram, say, withoutLocalCommands } from "./run-program.mjs";
import { setUp } from "./setup.mjs";

const USAGE = "usage: npm run install:global [-- --prefix DIR] [--tarball FILE]";
const { version } = JSON.parse(readFileSync(join(ROOT, "packages", "narthex", "package.json"), "utf8"));
const environment = withoutLocalCommands();

process.exitCode = await install(readOptions(process.argv.slice(2)));

function readOptions(words) {
  const options = {};
  for (let at = 0; at < words.length; at += 2) {
    const name = /^--(prefix|tarball)$/.exec(words[at]);
    if (!name || !words[at + 1]) return undefined;
    // npm starts scripts in the checkout, wherever it was called.
    options[name[1]] = resolve(process.env.INIT_CWD || ".", words[at + 1]);
  }
  return options;
}

/** Resolves with the exit code. */
async function install(options) {
  if (!options) {
    console.error(USAGE);
    return 2;
  }
  if (!options.tarball) await setUp("install");
  const prefix = options.prefix || choosePrefix(await npmPrefix(), homedir());
  const stage = mkdtempSync(join(tmpdir(), "narthex-install-"));
  try {
    const tarball = options.tarball || (await pack(stage));
    return tarball && (await installPackage(tarball, prefix)) ? await report({ prefix, isUsual: !options.prefix }) : 1;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/**
 * The version of the Node that the installed command will run on. It is not this process's: npm puts the checkout's own
 * Node first on the PATH of its scripts.
 */
async function usersNode() {
  const { output } = await runProgram("node", ["--version"], environment);
  const version = output.trim().split("\n").pop();
  return { version, isNewEnough: Number.parseInt(version.slice(1), 10) >= OLDEST_NODE_MAJOR };
}

async function npmPrefix() {
  const { output } = await runProgram("npm", ["prefix", "--global", "--loglevel=error"], environment);
  return output.trim().split("\n").pop();
}

/** Builds the package of this checkout, including a Node if the user's is too old. Resolves with its path. */
async function pack(stage) {
  say(`building narthex ${version}`);
  const node = findPinnedNode(import.meta.url);
  if (!node) {
    console.error(explainMissingNode());
    return undefined;
  }
  const words = [join(ROOT, "scripts/build/run-pack.ts"), stage, "--without-types"];
  const path = [join(ROOT, "node_modules", ".bin"), environment.PATH].join(delimiter);
  const { isNewEnough } = await usersNode();
  const packed = await runProgram(node, isNewEnough ? words : [...words, "--with-node"], {
    ...environment,
    PATH: path,
  });
  const name = readdirSync(stage).find((file) => file.endsWith(".tgz"));
  if (packed.status === 0 && name) return join(stage, name);
  console.error(packed.output);
  say("building failed: see above");
  return undefined;
}

async function installPackage(tarball, prefix) {
  say(`installing it below ${prefix}`);
  const words = ["install", "--global", "--prefix", prefix, "--prefer-offline", "--ignore-scripts"];
  // If this Node is too old for the package, the package includes its own.
  const quiet = ["--engine-strict=false", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = await runProgram("npm", [...words, ...quiet, tarball], environment);
  if (npm.status === 0) return true;
  console.error(npm.output);
  say("npm install failed: see above");
  return false;
}

/** Runs the installed command once and reports what was installed where. Resolves with the exit code. */
async function report({ prefix, isUsual }) {
  const paths = globalPaths(prefix);
  const started = await runProgram(paths.command, ["--version"], environment);
  if (started.status !== 0) {
    console.error(started.output);
    say(`${paths.command} does not run: see above`);
    return 1;
  }
  // Headers for compiling native add-ons, which nothing here needs.
  rmSync(join(paths.package, "node_modules", `node-${process.platform}-${process.arch}`, "include"), {
    recursive: true,
    force: true,
  });
  const megabytes = Math.round(directoryBytes(paths.package) / 1e6);
  const own = findPinnedNode(join(paths.package, "package.json"));
  const users = await usersNode();
  const node = users.isNewEnough ? `${users.version}, the one on your PATH` : `${own} (yours is ${users.version})`;
  const problem = pathProblem(prefix, environment.PATH, homedir());
  const typed = problem ? paths.command : "narthex";
  console.log(`narthex ${started.output.trim()} is installed
  command  ${paths.command}
  package  ${paths.package} (${megabytes} MB; it no longer needs this checkout)
  runs on  Node ${node}
  upgrade  git pull, then npm run install:global; restart kernels that run
  remove   npm run uninstall:global${isUsual ? "" : ` -- --prefix ${prefix}`}
`);
  if (problem) console.log(`note: ${problem}\n`);
  console.log(`next: ${typed} doctor, then ${typed} serve --first-session`);
  return 0;
}
