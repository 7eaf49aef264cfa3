import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Finds the rules that a new home starts with: in the checkout beside the packages, in the published package inside it.
 */
export async function findDefaultPolicyDirectory(): Promise<string> {
  for (const place of ["../policies", "../../../policies"]) {
    const directory = fileURLToPath(new URL(place, import.meta.url));
    if (
      await readdir(directory).then(
        () => true,
        () => false,
      )
    )
      return directory;
  }
  throw new Error("the default policy is missing from this installation");
}

/** Finds the default policy that was validated when the program was built. */
export async function findCheckedDefaultPolicy(): Promise<string> {
  return join(await findDefaultPolicyDirectory(), "checked");
}
