import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("test");
becomeScript("scripts/checks/run-checks.ts", process.argv.slice(2));
