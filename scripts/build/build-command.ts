import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";
import { bundlePackages, INSTALLED, OPTIONAL_PEERS } from "./bundle-code.ts";
import { endKernels, findOnDemandKernels } from "./on-demand-kernels.ts";
import { publishedManifest } from "./published-manifest.ts";
import { PROGRAM_FOLDERS, writeProgram } from "./write-program.ts";

export interface BuiltCommand extends AsyncDisposable {
  /** Path of a file to run on Node. */
  readonly program: string;
}

/** Written beside the program: the list of the bundled files. */
const SOURCES = "sources.json";
/** Packages of the command that tests import too. They are bundled into `packages`, which is not published. */
const FOR_TESTS = ["contracts", "kernel"];

/** Builds the `narthex` command as it is published, in its own folder: it starts in half the time of the sources. */
export async function buildCommand(): Promise<BuiltCommand> {
  const folder = await mkdtemp(join(tmpdir(), "narthex-command-"));
  const program = join(folder, "bin/narthex.js");
  const remove = async (): Promise<void> => {
    await endKernels(() => kernelsRunning(program));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    // Sandboxes of a kernel that runs as root belong to another user, who must be able to read what runs in them.
    await chmod(folder, 0o755);
    await writeFile(join(folder, SOURCES), JSON.stringify(await writeProgram(folder)));
    await bundlePackages(join(folder, "packages"), FOR_TESTS);
    const manifest = publishedManifest({ installed: INSTALLED, optionalPeers: OPTIONAL_PEERS });
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    for (const name of [...INSTALLED, ...OPTIONAL_PEERS]) await link(join("node_modules", name), folder);
    return { program, [Symbol.asyncDispose]: remove };
  } catch (fault) {
    await remove();
    throw fault;
  }
}

/** Copies the program of a built command, as written by `writeProgram`. Returns the list of the bundled files. */
export async function copyProgram(program: string, directory: string): Promise<readonly string[]> {
  const folder = join(dirname(program), "..");
  for (const name of PROGRAM_FOLDERS) await cp(join(folder, name), join(directory, name), { recursive: true });
  return JSON.parse(await readFile(join(folder, SOURCES), "utf8")) as readonly string[];
}

/** Kernels that clients started with a command, and that are still running. */
export async function kernelsRunning(program: string): Promise<number[]> {
  return (await findOnDemandKernels()).filter((kernel) => kernel.program === program).map(({ pid }) => pid);
}

async function link(path: string, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await symlink(join(REPOSITORY, path), join(folder, path));
}
