import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runProcess } from "../checks/run-process.ts";
import { REPOSITORY } from "../checks/run-tool.ts";
import { INSTALLED, OPTIONAL_PEERS } from "./bundle-code.ts";
import { bundleTypes } from "./bundle-types.ts";
import { publishedManifest } from "./published-manifest.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";
import { writeProgram } from "./write-program.ts";

/**
 * Builds the package as it is published and gives the path of its tarball, which is written into the directory. What
 * runs of it is written by `write` into a folder, and the files that went in are given back.
 */
export async function packNarthex(directory: string, write = writeProgram): Promise<string> {
  const target = resolve(directory);
  await mkdir(target, { recursive: true });
  const stage = await mkdtemp(join(tmpdir(), "narthex-pack-"));
  try {
    await fillStage(stage, write);
    return join(target, await runNpmPack(stage, target));
  } finally {
    await rm(stage, { recursive: true });
  }
}

async function fillStage(stage: string, write: typeof writeProgram): Promise<void> {
  const dist = join(stage, "dist");
  const code = await write(stage);
  const { entry, files } = await bundleTypes({
    entry: join(REPOSITORY, "packages/narthex/src/index.ts"),
    directory: join(dist, "types"),
    installed: INSTALLED,
  });
  await writeFile(join(dist, "third-party-notices.txt"), thirdPartyNotices([...code, ...files]));
  const manifest = publishedManifest(INSTALLED, OPTIONAL_PEERS, `./dist/types/${entry}`);
  await writeFile(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of ["README.md", "LICENSE", "CHANGELOG.md"])
    await copyFile(join(REPOSITORY, name), join(stage, name));
}

/** Gives the name of the tarball. */
async function runNpmPack(stage: string, target: string): Promise<string> {
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", target];
  const { code, output } = await runProcess("npm", words, stage);
  const name = output.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !name.endsWith(".tgz")) throw new Error(`npm pack failed: ${output}`);
  return name;
}
