import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("pack");
becomeScript("scripts/build/run-pack.ts", process.argv.slice(2));
