import { cp } from "node:fs/promises";
import { join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";
import { bundleCode } from "./bundle-code.ts";
import { checkDefaultPolicy } from "./check-default-policy.ts";
import { writePageProgram } from "./write-page-program.ts";
import { writeWasmProgram } from "./write-wasm-program.ts";
import { writeWorkerProgram } from "./write-worker-program.ts";

/** The folders that `writeProgram` writes. */
export const PROGRAM_FOLDERS = ["bin", "dist", "policies"] as const;

/**
 * Writes everything that runs in the published package: the bundled code, the command, the default policy and the
 * console's page. Returns the list of the bundled files.
 */
export async function writeProgram(directory: string): Promise<readonly string[]> {
  const dist = join(directory, "dist");
  const code = await bundleCode(dist);
  await writeWorkerProgram(dist);
  const pages = await writePageProgram(dist);
  await writeWasmProgram(dist);
  await cp(join(REPOSITORY, "packages/narthex/bin"), join(directory, "bin"), { recursive: true });
  await cp(join(REPOSITORY, "policies"), join(directory, "policies"), { recursive: true });
  await checkDefaultPolicy(join(directory, "policies"));
  await cp(join(REPOSITORY, "packages/server/src/console/page"), join(dist, "page"), { recursive: true });
  return [...code, ...pages];
}
