import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("start");
becomeScript("scripts/recording/record-terminal.ts", process.argv.slice(2));
