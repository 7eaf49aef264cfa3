import { join } from "node:path";
import { REPOSITORY } from "./run-tool.ts";

/** Folder for files that tests reuse in the next run. */
export const TEST_CACHE = join(REPOSITORY, "node_modules/.cache/tests");
