import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("generate");
becomeScript("scripts/reference/write-reference.ts", process.argv.slice(2));
