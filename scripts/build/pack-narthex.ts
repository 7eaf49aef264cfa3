import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runProcess } from "../checks/run-process.ts";
import { REPOSITORY } from "../checks/run-tool.ts";
import { INSTALLED, OPTIONAL_PEERS } from "./bundle-code.ts";
import type { BundledTypes } from "./bundle-types.ts";
import { publishedManifest } from "./published-manifest.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";
import { writePages } from "./write-pages.ts";
import { writeProgram } from "./write-program.ts";

export interface PackOptions {
  /** The directory for the tarball. */
  readonly directory: string;
  /** Writes the program into a folder and resolves with the list of the bundled files. */
  readonly write?: typeof writeProgram;
  /** Leaves out declarations, which only programs that import the package need. */
  readonly withoutTypes?: boolean;
  /** Adds the pinned Node as a dependency, for a machine whose own is too old. */
  readonly withNode?: boolean;
}

/** Builds the package as it is published and resolves with the path of its tarball. */
export async function packNarthex(options: PackOptions): Promise<string> {
  const target = resolve(options.directory);
  await mkdir(target, { recursive: true });
  const stage = await mkdtemp(join(tmpdir(), "narthex-pack-"));
  try {
    await fillStage(stage, options);
    return join(target, await runNpmPack(stage, target));
  } finally {
    await rm(stage, { recursive: true });
  }
}

async function fillStage(stage: string, { write = writeProgram, withoutTypes, withNode }: PackOptions): Promise<void> {
  const dist = join(stage, "dist");
  const code = await write(stage);
  const types = withoutTypes === true ? undefined : await writeTypes(dist);
  await writeFile(join(dist, "third-party-notices.txt"), thirdPartyNotices([...code, ...(types?.files ?? [])]));
  const manifest = publishedManifest({
    installed: INSTALLED,
    optionalPeers: OPTIONAL_PEERS,
    ...(types !== undefined && { types: types.entries.map((path) => `./dist/types/${path}`) }),
    ...(withNode !== undefined && { withNode }),
  });
  await writeFile(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await writePages(stage);
}

async function writeTypes(dist: string): Promise<BundledTypes> {
  // Imported here because it loads the compiler, which an installation of the command does not need.
  const { bundleTypes } = await import("./bundle-types.ts");
  return await bundleTypes({
    entries: ["index.ts", "testing/index.ts"].map((path) => join(REPOSITORY, "packages/narthex/src", path)),
    directory: join(dist, "types"),
    installed: INSTALLED,
  });
}

/** Returns the name of the tarball. */
async function runNpmPack(stage: string, target: string): Promise<string> {
  const words = ["pack", "--silent", "--ignore-scripts", "--pack-destination", target];
  const { code, output } = await runProcess("npm", words, stage);
  const name = output.trim().split("\n").at(-1) ?? "";
  if (code !== 0 || !name.endsWith(".tgz")) throw new Error(`npm pack failed: ${output}`);
  return name;
}
