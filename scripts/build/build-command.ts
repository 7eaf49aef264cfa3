import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";
import { bundlePackages, INSTALLED, OPTIONAL_PEERS } from "./bundle-code.ts";
import { endKernels, findOnDemandKernels } from "./on-demand-kernels.ts";
import { publishedManifest } from "./published-manifest.ts";
import { PROGRAM_FOLDERS, writeProgram } from "./write-program.ts";

export interface BuiltCommand extends AsyncDisposable {
  /** A file to run on Node. */
  readonly program: string;
}

/** Beside it: the files that went in. */
const SOURCES = "sources.json";
/** Of the packages that are part of the command, those that tests import too: into `packages`, which is not published. */
const FOR_TESTS = ["contracts", "kernel"];

/** The `narthex` command as it is published, in a folder of its own: it starts in half the time that the sources take. */
export async function buildCommand(): Promise<BuiltCommand> {
  const folder = await mkdtemp(join(tmpdir(), "narthex-command-"));
  const program = join(folder, "bin/narthex.js");
  const remove = async (): Promise<void> => {
    await endKernels(() => kernelsRunning(program));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    // Sandboxes of a kernel of root's are somebody else's, who must be able to read what runs in them.
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

/** Writes the program of a built command, as `writeProgram` wrote it there. Gives what went in. */
export async function copyProgram(program: string, directory: string): Promise<readonly string[]> {
  const folder = join(dirname(program), "..");
  for (const name of PROGRAM_FOLDERS) await cp(join(folder, name), join(directory, name), { recursive: true });
  return JSON.parse(await readFile(join(folder, SOURCES), "utf8")) as readonly string[];
}

/** Kernels that clients started with a command, and that outlived them. */
export async function kernelsRunning(program: string): Promise<number[]> {
  return (await findOnDemandKernels()).filter((kernel) => kernel.program === program).map(({ pid }) => pid);
}

async function link(path: string, folder: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await symlink(join(REPOSITORY, path), join(folder, path));
}
