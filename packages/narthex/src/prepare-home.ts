import { constants } from "node:fs";
import { copyFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DEFAULT_CONFIGURATION_TEXT, type HomePaths } from "@narthex/host";
import { findDefaultPolicyDirectory } from "./default-policy-directory.ts";

/** What was written into a home that had none of it. */
export interface PreparedHome {
  readonly written: readonly string[];
}

const POLICY_SUFFIX = ".cedar";
/** What the rules beside them answer. */
const EXAMPLES_SUFFIX = ".examples.yaml";

/** Writes the commented configuration and the default policy where there is none. Overwrites nothing. */
export async function prepareHome(paths: HomePaths): Promise<PreparedHome> {
  const written: string[] = [];
  try {
    await writeFile(paths.configuration, DEFAULT_CONFIGURATION_TEXT, { flag: "wx", mode: 0o600 });
    written.push(paths.configuration);
  } catch (fault) {
    if (!isExisting(fault)) throw fault;
  }
  // In a home that was used, an empty policy directory is somebody's decision to deny everything.
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

/** Whatever it is called: a rule that is silently left out would be no rule. */
function isPolicyFile(name: string): boolean {
  return name.endsWith(POLICY_SUFFIX);
}

function isExisting(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "EEXIST";
}
