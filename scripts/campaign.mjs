import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("campaign");
becomeScript("campaigns/runner/run-campaigns.ts", process.argv.slice(2));
