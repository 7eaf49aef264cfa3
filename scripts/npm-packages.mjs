// Must run on any Node since 16: no dependencies, no newer syntax.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { directoryBytes } from "./directory-bytes.mjs";
import { showProgress } from "./install-progress.mjs";
import { ROOT, runProgram, say, withoutLocalCommands } from "./run-program.mjs";

const MODULES = join(ROOT, "node_modules");
const STAMP = join(MODULES, ".setup-stamp");
const PINNED_NODE = join("node_modules", `node-${process.platform}-${process.arch}`);
const QUIET = ["--no-audit", "--no-fund", "--loglevel=error"];

/**
 * Installs the packages of the lock file into node_modules: for "run" those that run and build the command, for "all"
 * also those of tests and checks. Resolves with whether they are installed.
 */
export async function installPackages(needed) {
  const lockText = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  const lock = JSON.parse(lockText);
  const id = `${process.platform}-${process.arch} ${createHash("sha256").update(lockText).digest("hex")}`;
  const stamp = existsSync(STAMP) ? readFileSync(STAMP, "utf8").trim() : "";
  // A checkout that has been tested stays ready for tests.
  const set = stamp.endsWith(" all") ? "all" : needed;
  if (stamp === `${id} ${set}`) return true;
  if (!holdsPackages(wantedPackages(lock, set)) && !(await runNpm(commandFor(set, stamp, id), lock, set))) return false;
  writeFileSync(STAMP, `${id} ${set}\n`);
  return true;
}

function commandFor(set, stamp, id) {
  if (set === "run") return ["ci", "--omit=dev"];
  // `npm ci` would first delete the packages that a running `npm start` uses.
  return stamp === `${id} run` ? ["install", "--no-save", "--include=dev"] : ["ci", "--include=dev"];
}

async function runNpm(command, lock, set) {
  const paths = wantedPackages(lock, set).map(([path]) => path);
  say(`installing packages (npm ${command.join(" ")})`);
  const startedMs = Date.now();
  const progress = showProgress(paths.filter((path) => !lock.packages[path].optional || path === PINNED_NODE));
  // npm deletes node_modules first, so it must not run on the Node in there.
  const npm = await runProgram("npm", [...command, ...QUIET], withoutLocalCommands());
  progress.stop();
  if (npm.status !== 0) {
    console.error(npm.output);
    say(`npm ${command[0]} failed: see above`);
    return false;
  }
  // A third of that package: headers for compiling native add-ons, which nothing here needs.
  rmSync(join(ROOT, PINNED_NODE, "include"), { recursive: true, force: true });
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const count = paths.filter((path) => existsSync(join(ROOT, path))).length;
  say(`${count} packages, ${Math.round(directoryBytes(MODULES) / 1e6)} MB, in ${seconds} s`);
  return true;
}

/**
 * Path and entry of every package of a set, including optional ones for other platforms, which npm does not install.
 */
function wantedPackages(lock, set) {
  return Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && !(dev && set === "run"));
}

/** True after a manual `npm install`, which installs the same packages as `npm ci`. */
function holdsPackages(wantedEntries) {
  const listing = join(MODULES, ".package-lock.json");
  if (!existsSync(listing)) return false;
  const installed = JSON.parse(readFileSync(listing, "utf8")).packages;
  return wantedEntries.every(([path, wanted]) => {
    const found = installed[path];
    if (wanted.optional && !found && path !== PINNED_NODE) return true;
    if (!found || !existsSync(join(ROOT, path))) return false;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}
