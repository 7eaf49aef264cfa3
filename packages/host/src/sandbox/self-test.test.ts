import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { findMachine, isMissing } from "./find-machine.ts";
import { SandboxFiles } from "./sandbox-machine.ts";
import { runSelfTest } from "./self-test.ts";
import { createTestSandbox, type TestSandbox } from "./testing/test-sandbox.ts";

let sandbox: TestSandbox;
before(async () => {
  sandbox = await createTestSandbox();
});
after(() => sandbox.remove());

test("everything that must not be possible was tried from inside, and is not", async () => {
  const { checks, failure } = await runSelfTest(sandbox.machine, sandbox.files, sandbox.identity);
  assert.equal(failure, undefined);
  assert.equal(checks.length, 12);
  assert.deepEqual(
    checks.filter((check) => !check.holds),
    [],
  );
});

test("a bubblewrap that contains nothing is found out", async () => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-fake-"));
  try {
    const bubblewrap = join(directory, "bwrap");
    // Answers like the real one and runs the program bare.
    const script = `#!/bin/sh
      cat <&3 >/dev/null; echo "{ \\"child-pid\\": $$ }" >&4; shift 3
      "$@"; echo "{ \\"exit-code\\": $? }" >&4`;
    await writeFile(bubblewrap, script);
    await chmod(bubblewrap, 0o755);
    await chmod(directory, 0o755);
    const machine = { ...sandbox.machine, bubblewrap };
    const { checks } = await runSelfTest(machine, sandbox.files, sandbox.identity);
    const broken = checks.filter((check) => !check.holds).map((check) => check.name);
    for (const name of ["system calls filtered", "no network", "host invisible"])
      assert.ok(broken.includes(name), name);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a bubblewrap that fails says why", async () => {
  const machine = { ...sandbox.machine, bubblewrap: "/bin/false" };
  const { checks, failure } = await runSelfTest(machine, sandbox.files, sandbox.identity);
  assert.deepEqual(checks, []);
  assert.match(failure ?? "", /the sandbox failed/);
});

test("programs that are missing, setuid or for another machine are named with what to do", async () => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-path-"));
  try {
    const problem = async (options: object): Promise<string> => {
      const found = await findMachine({ directory, ...options });
      return isMissing(found) ? `${found.problem}: ${found.fix}` : "found";
    };
    assert.match(await problem({ path: [directory] }), /bubblewrap is not installed: apt-get install bubblewrap/);
    assert.match(await problem({ architecture: "riscv64" }), /no filter of system calls for riscv64/);
    await writeFile(join(directory, "bwrap"), "");
    await chmod(join(directory, "bwrap"), 0o4755);
    assert.match(await problem({ path: [directory] }), /setuid root/);
    assert.equal(await problem({}), "found");
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("an ordinary user has the same sandbox", async (context) => {
  if (process.getuid?.() !== 0) {
    context.diagnostic("this test runs as an ordinary user itself");
    assert.ok(sandbox.identity.uid !== 0);
    return;
  }
  const uid = 1000;
  const directory = await mkdtemp(join(tmpdir(), "narthex-user-"));
  await chmod(directory, 0o777);
  const program = `
    import { findMachine } from ${JSON.stringify(import.meta.resolve("./find-machine.ts"))};
    import { SandboxFiles } from ${JSON.stringify(import.meta.resolve("./sandbox-machine.ts"))};
    import { runSelfTest } from ${JSON.stringify(import.meta.resolve("./self-test.ts"))};
    const machine = await findMachine({ directory: ${JSON.stringify(join(directory, "files"))} });
    console.log(JSON.stringify(await runSelfTest(machine, new SandboxFiles(machine), { uid: ${uid}, gid: ${uid} })));
  `;
  try {
    const options = { uid, gid: uid, cwd: "/", env: { PATH: "/usr/bin:/bin", TMPDIR: directory } };
    const run = promisify(execFile)(process.execPath, ["--input-type=module-typescript", "-e", program], options);
    const { stdout } = await run.catch((fault: unknown) => {
      // A checkout under a home that others may not enter cannot be read by another user.
      if (/EACCES|ERR_MODULE_NOT_FOUND/.test(String(fault))) return { stdout: "" };
      throw fault;
    });
    if (stdout === "") {
      context.diagnostic("not tried as another user: that user may not read these sources");
      return;
    }
    const report = JSON.parse(stdout) as Awaited<ReturnType<typeof runSelfTest>>;
    assert.equal(report.failure, undefined);
    assert.ok(report.checks.every((check) => check.holds));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("files of sandboxes are written once, and again after a failure", async () => {
  const directory = await mkdtemp(join(tmpdir(), "narthex-files-"));
  const files = new SandboxFiles({ ...sandbox.machine, directory: join(directory, "a", "b") });
  try {
    const choice = { socketFamilies: [], mayFork: false };
    assert.equal(await files.filter(choice), await files.filter(choice));
  } finally {
    await rm(directory, { recursive: true });
  }
});
