import { chmod, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { rolldown } from "rolldown";
import { REPOSITORY } from "../checks/run-tool.ts";

/**
 * Bundles a program for sandboxes into one file that every user may read. Returns the repository's files in the bundle.
 */
export async function bundleProgram(entry: string, file: string): Promise<readonly string[]> {
  await mkdir(dirname(file));
  const bundle = await rolldown({
    cwd: REPOSITORY,
    input: entry,
    platform: "node",
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await bundle.write({
    file,
    format: "esm",
    codeSplitting: false,
    minify: { compress: true, mangle: false, codegen: false },
    comments: false,
  });
  await bundle.close();
  const [program, ...others] = output;
  const missing = program.imports.filter((name) => !name.startsWith("node:"));
  if (others.length > 0 || missing.length > 0) throw new Error(`the program of ${entry} is not one file`);
  await chmod(file, 0o644);
  return program.moduleIds.filter((id) => id.startsWith(REPOSITORY));
}
