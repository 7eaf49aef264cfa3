import { constants } from "node:fs";
import { copyFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_CONFIGURATION_TEXT, type HomePaths } from "@narthex/host";
import { findDefaultPolicyDirectory } from "./default-policy-directory.ts";

/** What was written into a new home. */
export interface PreparedHome {
  readonly written: readonly string[];
}

const POLICY_SUFFIX = ".cedar";
/** Suffix of files with the expected decisions of the rules beside them. */
const EXAMPLES_SUFFIX = ".examples.yaml";

/** Writes the commented configuration and the default policy if they are missing. Overwrites nothing. */
export async function prepareHome(paths: HomePaths): Promise<PreparedHome> {
  const written: string[] = [];
  try {
    await writeFile(paths.configuration, DEFAULT_CONFIGURATION_TEXT, { flag: "wx", mode: 0o600 });
    written.push(paths.configuration);
  } catch (fault) {
    if (!isExisting(fault)) throw fault;
  }
  // In a home that was used before, an empty policy directory is a deliberate choice to deny everything.
  if ((await readdir(paths.policy)).length > 0 || (await readdir(paths.store)).length > 0) return { written };
  const source = await findDefaultPolicyDirectory();
  for (const name of (await readdir(source)).filter(
    (found) => isPolicyFile(found) || found.endsWith(EXAMPLES_SUFFIX),
  )) {
    const target = join(paths.policy, name);
    await copyFile(join(source, name), target, constants.COPYFILE_EXCL);
    written.push(target);
  }
  return { written };
}

/**
 * Matches every policy file by its ending, whatever its name: a rule in a skipped file would silently have no effect.
 */
function isPolicyFile(name: string): boolean {
  return name.endsWith(POLICY_SUFFIX);
}

function isExisting(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "EEXIST";
}
