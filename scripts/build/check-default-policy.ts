import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { cachePolicySet, readPolicyDirectory, schemaForTools } from "../../packages/host/src/index.ts";
import { builtinTools } from "../../packages/tools/src/index.ts";

/**
 * Writes the result of checking the default policy beside it, so that a home that starts with this policy does not
 * check it again.
 */
export async function checkDefaultPolicy(policies: string): Promise<void> {
  const directory = join(policies, "checked");
  await rm(directory, { recursive: true, force: true });
  await cachePolicySet(await readPolicyDirectory(policies), schemaForTools(builtinTools()), directory);
  // As readable as the code beside it, whichever user installs that.
  await chmod(directory, 0o755);
  for (const name of await readdir(directory)) await chmod(join(directory, name), 0o644);
}
