import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

setUp("bench");
becomeScript("bench/run-bench.ts", process.argv.slice(2));
