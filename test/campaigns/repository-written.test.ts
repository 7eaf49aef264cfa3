import assert from "node:assert/strict";
import { lstat, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isRepositoryWritten } from "../../campaigns/races/repository-written.ts";

test("a program's output is found in the repository at any path, and other content with its name is not", async (context) => {
  const root = await mkdtemp(join(tmpdir(), "narthex-written-"));
  context.after(() => rm(root, { recursive: true }));
  const [git, away] = [join(root, ".git"), join(root, "away")];
  const make = async (): Promise<void> => {
    await mkdir(join(git, "hooks"), { recursive: true });
    await writeFile(join(git, "config"), "[core]\n");
  };
  await make();
  const { ino } = await lstat(git);
  const isWritten = (): Promise<boolean> => isRepositoryWritten([git, away], ino);
  assert.equal(await isWritten(), false);
  await rename(git, away);
  await make();
  await writeFile(join(git, "config"), "attack\n");
  await writeFile(join(git, "hooks/attack"), "");
  assert.equal(await isWritten(), false);
  await writeFile(join(away, "hooks/attack"), "");
  assert.equal(await isWritten(), true);
  await rm(join(away, "hooks/attack"));
  await writeFile(join(away, "config"), "[core]\nattack\n");
  assert.equal(await isWritten(), true);
});
