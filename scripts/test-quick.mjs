import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("generate");
becomeScript("scripts/checks/run-quick.ts", process.argv.slice(2));
