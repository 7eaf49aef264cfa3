import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { DEFAULT_CONFIGURATION } from "./configuration.ts";
import { loadConfiguration, MAX_CONFIGURATION_BYTES } from "./load-configuration.ts";

let directory = "";
before(async () => {
  directory = await mkdtemp(join(tmpdir(), "narthex-configuration-"));
});
after(() => rm(directory, { recursive: true, force: true }));

function invalid(message: RegExp): { code: string; message: RegExp } {
  return { code: "CONFIG_INVALID", message };
}

test("a directory, a pipe, and a file that is too large or not text are refused by name", async () => {
  const path = join(directory, "refused.yaml");
  await mkdir(path);
  await assert.rejects(loadConfiguration(path), invalid(/refused\.yaml` is not a file/));
  await rm(path, { recursive: true });

  execFileSync("/usr/bin/mkfifo", [path]);
  await assert.rejects(loadConfiguration(path), invalid(/is not a file/));
  await rm(path);

  await writeFile(path, "#".repeat(MAX_CONFIGURATION_BYTES + 1));
  await assert.rejects(loadConfiguration(path), invalid(/larger than 1 MB/));

  await writeFile(path, Buffer.from([0x23, 0xff, 0xfe]));
  await assert.rejects(loadConfiguration(path), invalid(/not UTF-8/));

  await writeFile(path, "");
  await assert.rejects(loadConfiguration(join(path, "below")), invalid(/cannot be read \(ENOTDIR\)/));
});

test("a link to nothing is refused: the defaults would hide the mistake", async () => {
  const path = join(directory, "dangling.yaml");
  await symlink(join(directory, "nowhere"), path);
  await assert.rejects(loadConfiguration(path), invalid(/a link to a file that does not exist/));
});

test("where there is no file, the defaults hold", async () => {
  assert.equal(await loadConfiguration(join(directory, "absent.yaml")), DEFAULT_CONFIGURATION);
});

test("a file is read, through a link and with a byte order mark too", async () => {
  const path = join(directory, "narthex.yaml");
  await writeFile(path, "\ufeffview_bytes: 1000\n");
  await symlink(path, join(directory, "link.yaml"));
  assert.deepEqual(await loadConfiguration(join(directory, "link.yaml")), {
    ...DEFAULT_CONFIGURATION,
    viewBytes: 1000,
  });
});

test("a file of the largest size is taken", async () => {
  const path = join(directory, "large.yaml");
  await writeFile(path, `view_bytes: 1000 ${"#".repeat(MAX_CONFIGURATION_BYTES - 17)}`);
  assert.equal((await loadConfiguration(path)).viewBytes, 1000);
});
