import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";
import { PAGE_PROGRAM } from "../../packages/host/src/pages/page-program.ts";
import { bundleProgram } from "./bundle-program.ts";

const ENTRY = "packages/host/src/pages/worker/page-worker.ts";
/** Published as one file that includes its dependencies. */
const WHOLE = "linkedom";

/**
 * Writes the program of page workers as one file into the folder in which the bundled code looks for it: a sandbox sees
 * only that folder of the package. Returns the list of the bundled files.
 */
export async function writePageProgram(directory: string): Promise<readonly string[]> {
  const wentIn = await bundleProgram(ENTRY, join(directory, "page-worker", PAGE_PROGRAM));
  return [...wentIn, ...manifestsBelow(WHOLE, REPOSITORY)];
}

/** The manifests of all direct and indirect dependencies of a package. */
function manifestsBelow(name: string, from: string): string[] {
  const own = join(from, "node_modules", name);
  const folder = existsSync(own) ? own : join(REPOSITORY, "node_modules", name);
  const manifest = join(folder, "package.json");
  const { dependencies = {} } = JSON.parse(readFileSync(manifest, "utf8")) as { dependencies?: object };
  return [manifest, ...Object.keys(dependencies).flatMap((dependency) => manifestsBelow(dependency, folder))];
}
