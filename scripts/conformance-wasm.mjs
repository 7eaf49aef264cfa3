import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("conformance");
becomeScript("scripts/conformance/wasm/run-suite.ts", process.argv.slice(2));
