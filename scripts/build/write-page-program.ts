import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { REPOSITORY } from "../checks/run-tool.ts";
import { PAGE_PROGRAM } from "../../packages/host/src/pages/page-program.ts";

const ENTRY = "packages/host/src/pages/worker/page-worker.ts";
/** Comes as one file with what it depends on. */
const WHOLE = "linkedom";

/**
 * Writes the program of page workers into the folder in which the bundled code looks for it, as one file: a sandbox sees
 * that folder and nothing else of the package. Gives the files that went in.
 */
export async function writePageProgram(directory: string): Promise<readonly string[]> {
  const to = join(directory, "page-worker");
  await mkdir(to);
  const bundle = await rolldown({
    cwd: REPOSITORY,
    input: ENTRY,
    platform: "node",
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const file = join(to, PAGE_PROGRAM);
  const { output } = await bundle.write({
    file,
    format: "esm",
    codeSplitting: false,
    minify: { compress: true, mangle: false, codegen: true },
  });
  await bundle.close();
  const [program, ...others] = output;
  const missing = program.imports.filter((name) => !name.startsWith("node:"));
  if (others.length > 0 || missing.length > 0) throw new Error("the program of page workers is not one file");
  await chmod(file, 0o644);
  return [...program.moduleIds.filter((id) => id.startsWith(REPOSITORY)), ...manifestsBelow(WHOLE, REPOSITORY)];
}

/** The manifests of all that a package depends on. */
function manifestsBelow(name: string, from: string): string[] {
  const own = join(from, "node_modules", name);
  const folder = existsSync(own) ? own : join(REPOSITORY, "node_modules", name);
  const manifest = join(folder, "package.json");
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies?: object };
  return [manifest, ...Object.keys(dependencies).flatMap((dependency) => manifestsBelow(dependency, folder))];
}
