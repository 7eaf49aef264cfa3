import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { publicPaths } from "./certificate-authorities.ts";
import { createTestSandbox, type TestSandbox } from "./testing/test-sandbox.ts";

describe("files made of bytes", () => {
  let sandbox: TestSandbox;
  before(async () => {
    sandbox = await createTestSandbox();
  });
  after(() => sandbox.remove());

  const script = Buffer.from('#!/bin/sh\necho "ran $1"\n');

  it("are there with exactly these bytes, and run where they may", async () => {
    const large = Buffer.alloc(3 * 1024 * 1024, "x");
    const contents = [
      { target: "/opt/tool/run.sh", bytes: script, isExecutable: true },
      { target: "/opt/tool/data/large", bytes: large, isExecutable: false },
      { target: "/opt/tool/data/empty", bytes: new Uint8Array(0), isExecutable: false },
    ];
    const { stdout, stderr } = await sandbox.run(
      "/opt/tool/run.sh once; wc -c < /opt/tool/data/large; wc -c < /opt/tool/data/empty; stat -c %a /opt/tool/data/large",
      { contents },
    );
    assert.equal(stdout, `ran once\n${large.length}\n0\n444\n`, stderr);
  });

  it("cannot be changed, replaced or taken away from inside", async () => {
    const contents = [{ target: "/opt/tool/run.sh", bytes: script, isExecutable: true }];
    const { stdout } = await sandbox.run(
      "cd /opt/tool; for how in 'echo x >> run.sh' 'chmod u+w run.sh' 'rm run.sh' 'mv run.sh other' 'touch new'; do sh -c \"$how\" 2>/dev/null && echo \"did $how\"; done; ./run.sh still",
      { contents },
    );
    assert.equal(stdout, "ran still\n");
  });

  it("leave no open file behind for the program", async () => {
    const contents = [1, 2, 3].map((n) => ({ target: `/opt/tool/${n}`, bytes: script, isExecutable: false }));
    const [with3, without] = await Promise.all([
      sandbox.run("ls /proc/self/fd", { contents }),
      sandbox.run("ls /proc/self/fd"),
    ]);
    assert.match(with3.stdout, /^0\n1\n2\n/);
    assert.equal(with3.stdout, without.stdout);
  });

  it("come from nowhere on the host: no mount names a path of it", async () => {
    const contents = [{ target: "/opt/tool/run.sh", bytes: script, isExecutable: true }];
    const { stdout } = await sandbox.run("grep /opt/tool/run.sh /proc/self/mountinfo", { contents });
    assert.match(stdout, /bindfile/);
  });
});

describe("certificate authorities of the host", () => {
  let sandbox: TestSandbox;
  let directory: string;
  before(async () => {
    sandbox = await createTestSandbox();
    directory = await mkdtemp(join(tmpdir(), "narthex-authorities-"));
  });
  after(async () => {
    await sandbox.remove();
    await rm(directory, { recursive: true });
  });

  it("are there without the keys that lie beside them", async () => {
    const shown = ["certs", "openssl.cnf", "cert.pem", "ca-bundle.pem"];
    const here = (await readdir("/etc/ssl").catch(() => [])).filter((name) => shown.includes(name)).sort();
    const { stdout } = await sandbox.run("ls -A /etc/ssl; ls -A /etc | tr '\\n' ' '");
    assert.deepEqual(stdout.split("\n").slice(0, -1), here);
    assert.match(stdout, /nsswitch\.conf/);
    assert.doesNotMatch(stdout, /shadow|private/);
  });

  it("are not shown as a directory where a file in it is closed to other users", async () => {
    const bundle = join(directory, "ca-certificates.crt");
    await chmod(directory, 0o755);
    await writeFile(bundle, "", { mode: 0o644 });
    await symlink("/etc/ssl/private/x", join(directory, "link"));
    assert.deepEqual(publicPaths(directory), [directory]);
    await mkdir(join(directory, "below"));
    await writeFile(join(directory, "below/server.pem"), "", { mode: 0o640 });
    assert.deepEqual(publicPaths(directory), [bundle]);
    await chmod(bundle, 0o640);
    assert.deepEqual(publicPaths(directory), []);
    assert.deepEqual(publicPaths(join(directory, "absent")), []);
  });
});
