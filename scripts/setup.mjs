// Runs before anything is installed, on whatever Node npm runs on (16 or newer): no dependencies, no newer syntax.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const STAMP = join(ROOT, "node_modules", ".setup-stamp");

/** Debian packages that the kernel itself uses, and what is lost without them. */
const KERNEL_PACKAGES = [{ name: "bubblewrap", without: "nothing can be contained, so file and shell tools refuse" }];

const WABT = [{ name: "wabt", without: "texts of WebAssembly modules cannot be read, and tests with them fail" }];

/** The same for tests and campaigns. */
const TEST_PACKAGES = [
  { name: "git", without: "tests that keep their work in a repository fail" },
  { name: "protobuf-compiler", without: "proto/ is not compiled a second time with protoc" },
  { name: "python3-protobuf", without: "tests with a Python client fail" },
  { name: "python3-grpcio", without: "tests with a Python client fail" },
  { name: "python3-grpc-tools", without: "tests with a Python client fail" },
  { name: "python3-cryptography", without: "tests that verify a log with another implementation fail" },
  { name: "b3sum", without: "tests that compare BLAKE3 with another implementation fail" },
  { name: "libtest-json-schema-acceptance-perl", without: "tests with the official JSON Schema suite fail" },
  { name: "fiu-utils", without: "tests with a disk that fails fail" },
  { name: "libfaketime", without: "tests with a clock that is set back fail" },
  ...["libnss3", "libnspr4", "libexpat1"].map((name) => ({ name, without: "tests in a browser fail" })),
  ...KERNEL_PACKAGES,
  { name: "curl", without: "tests of programs that ask other hosts fail" },
  { name: "openssl", without: "tests with certificates of their own fail" },
  ...WABT,
  { name: "binaryen", without: "tests with generated WebAssembly modules fail" },
  { name: "python3-pip", without: "the test that installs a Python package in the sandbox fails" },
];

/** Debian packages by the command that uses them. */
const SYSTEM_PACKAGES = {
  start: KERNEL_PACKAGES,
  generate: [],
  pack: [],
  test: TEST_PACKAGES,
  campaign: TEST_PACKAGES,
  conformance: WABT,
  bench: [{ name: "git", without: "numbers do not name their commit" }, ...KERNEL_PACKAGES],
};

/** Everything a command needs that is not in the repository. Ends the process if packages cannot be installed. */
export async function setUp(command) {
  // At once: the one mostly unpacks, the other mostly waits for its server.
  const [hasPackages] = await Promise.all([installPackages(), installSystemPackages(SYSTEM_PACKAGES[command])]);
  if (!hasPackages) process.exit(1);
}

/** Answers whether they are there now. */
async function installPackages() {
  const lockText = readFileSync(join(ROOT, "package-lock.json"), "utf8");
  const stamp = `${process.platform}-${process.arch} ${createHash("sha256").update(lockText).digest("hex")}\n`;
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp) return true;
  if (!holdsPackagesOf(JSON.parse(lockText))) {
    say("installing packages (npm ci)");
    const npm = await run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], withoutLocalCommands());
    if (npm.status !== 0) {
      console.error(npm.output);
      say("npm ci failed: see above");
      return false;
    }
  }
  writeFileSync(STAMP, stamp);
  return true;
}

/** True after an `npm install` by hand, which leaves the same packages as `npm ci` would. */
function holdsPackagesOf(lock) {
  const listing = join(ROOT, "node_modules", ".package-lock.json");
  if (!existsSync(listing)) return false;
  const installed = JSON.parse(readFileSync(listing, "utf8")).packages;
  return Object.entries(lock.packages).every(([path, wanted]) => {
    const found = installed[path];
    if (path === "" || (wanted.optional && !found && !isPinnedNode(path))) return true;
    if (!found || !existsSync(join(ROOT, path))) return false;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

function isPinnedNode(path) {
  return path === `node_modules/node-${process.platform}-${process.arch}`;
}

/** npm deletes node_modules first, so it must not run on the Node in there. */
function withoutLocalCommands() {
  const isLocal = (folder) => folder.endsWith(join("node_modules", ".bin")) || folder.includes(`${sep}node-gyp-bin`);
  const path = (process.env.PATH || "").split(delimiter).filter((folder) => !isLocal(folder));
  return { ...process.env, PATH: path.join(delimiter) };
}

async function installSystemPackages(packages) {
  const isThere = await Promise.all(packages.map(({ name }) => isSystemPackageInstalled(name)));
  const missing = packages.filter((_, index) => !isThere[index]);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  const asRoot = await rootPrefix();
  if (asRoot && (await run("apt-get", ["--version"])).status === 0) {
    say(`installing system packages (apt-get): ${names.join(" ")}`);
    if ((await aptInstall(asRoot, names)) || (await aptInstall(asRoot, names))) return;
    say("apt-get failed");
  }
  say(`going on without these system packages (apt-get install ${names.join(" ")}):`);
  for (const { name, without } of missing) console.error(`  ${name}: ${without}`);
}

async function isSystemPackageInstalled(name) {
  const answer = await run("dpkg-query", ["--show", "--showformat=${db:Status-Status}", name]);
  return answer.status === 0 && answer.output.trim() === "installed";
}

/** What goes before a command to run it as root; undefined where that is not allowed without asking. */
async function rootPrefix() {
  if (process.getuid && process.getuid() === 0) return [];
  return (await run("sudo", ["-n", "true"])).status === 0 ? ["sudo", "-n"] : undefined;
}

async function aptInstall(asRoot, names) {
  const options = ["-qq", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=30"];
  for (const command of [["update"], ["install", "-y", "--no-install-recommends", ...names]]) {
    const words = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...options, ...command];
    const [program, ...rest] = words;
    if ((await run(program, rest)).status !== 0) return false;
  }
  return true;
}

/** How a program ended, and all that it printed. One that cannot be started has no status. */
function run(program, programArguments, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(program, programArguments, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", () => resolve({ status: null, output }));
    child.on("close", (status) => resolve({ status, output }));
  });
}

function say(line) {
  console.error(`setup: ${line}`);
}
