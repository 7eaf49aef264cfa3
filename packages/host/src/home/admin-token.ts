import { readFile } from "node:fs/promises";
import type { HomePaths } from "./home-paths.ts";

/**
 * Reads the administrator's token of the running kernel. Apart from `bearer-tokens.ts`, which issues it, because that
 * module loads the hash function.
 */
export async function readAdminToken(paths: HomePaths): Promise<string> {
  return (await readFile(paths.adminToken, "utf8")).trim();
}
