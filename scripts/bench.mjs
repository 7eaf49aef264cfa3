import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("bench");
becomeScript("bench/run-bench.ts", process.argv.slice(2));
