import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("clients");
becomeScript("scripts/conformance/clients/run-suite.ts", process.argv.slice(2));
