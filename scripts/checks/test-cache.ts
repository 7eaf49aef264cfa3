import { join } from "node:path";
import { REPOSITORY } from "./run-tool.ts";

/** What tests leave for the next run. */
export const TEST_CACHE = join(REPOSITORY, "node_modules/.cache/tests");
