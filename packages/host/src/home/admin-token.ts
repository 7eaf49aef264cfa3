import { readFile } from "node:fs/promises";
import type { HomePaths } from "./home-paths.ts";

/** The administrator's token of the kernel that runs now. Apart from its making, which brings the hash that it is kept as. */
export async function readAdminToken(paths: HomePaths): Promise<string> {
  return (await readFile(paths.adminToken, "utf8")).trim();
}
