// Runs before anything is installed, on whatever Node npm runs on (16 or newer): no dependencies, no newer syntax.
import { installPackages } from "./npm-packages.mjs";
import { runProgram, say } from "./run-program.mjs";

/** Debian packages that the kernel itself uses, and what does not work without them. */
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

/** The set of npm packages and the Debian packages that each command needs. */
const NEEDS = {
  start: { npm: "run", system: KERNEL_PACKAGES },
  install: { npm: "run", system: KERNEL_PACKAGES },
  generate: { npm: "all", system: [] },
  pack: { npm: "all", system: [] },
  example: { npm: "all", system: [] },
  test: { npm: "all", system: TEST_PACKAGES },
  campaign: { npm: "all", system: TEST_PACKAGES },
  conformance: { npm: "all", system: WABT },
  bench: { npm: "all", system: [{ name: "git", without: "numbers do not name their commit" }, ...KERNEL_PACKAGES] },
  clients: {
    npm: "all",
    system: [{ name: "git", without: "clients have no repository to work in" }, ...KERNEL_PACKAGES],
  },
};

/**
 * Installs everything that a command needs and that is not in the repository. Ends the process if packages cannot be
 * installed.
 */
export async function setUp(command) {
  if (process.platform !== "linux")
    say("narthex contains programs on Linux only (WSL 2 on Windows): here they are refused");
  const { npm, system } = NEEDS[command];
  // In parallel: one mostly unpacks, the other mostly waits for its server.
  const [hasPackages] = await Promise.all([installPackages(npm), installSystemPackages(system)]);
  if (!hasPackages) process.exit(1);
}

async function installSystemPackages(packages) {
  const isThere = await Promise.all(packages.map(({ name }) => isSystemPackageInstalled(name)));
  const missing = packages.filter((_, index) => !isThere[index]);
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name);
  const asRoot = await rootPrefix();
  if (asRoot && (await runProgram("apt-get", ["--version"])).status === 0) {
    say(`installing system packages (apt-get): ${names.join(" ")}`);
    if ((await aptInstall(asRoot, names)) || (await aptInstall(asRoot, names))) return;
    say("apt-get failed");
  }
  say(`going on without these system packages (apt-get install ${names.join(" ")}):`);
  for (const { name, without } of missing) console.error(`  ${name}: ${without}`);
}

async function isSystemPackageInstalled(name) {
  const answer = await runProgram("dpkg-query", ["--show", "--showformat=${db:Status-Status}", name]);
  return answer.status === 0 && answer.output.trim() === "installed";
}

/** The words that run a command as root; undefined if that is not possible without a password prompt. */
async function rootPrefix() {
  if (process.getuid && process.getuid() === 0) return [];
  return (await runProgram("sudo", ["-n", "true"])).status === 0 ? ["sudo", "-n"] : undefined;
}

async function aptInstall(asRoot, names) {
  const options = ["-qq", "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=30"];
  for (const command of [["update"], ["install", "-y", "--no-install-recommends", ...names]]) {
    const words = [...asRoot, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", ...options, ...command];
    const [program, ...rest] = words;
    if ((await runProgram(program, rest)).status !== 0) return false;
  }
  return true;
}
