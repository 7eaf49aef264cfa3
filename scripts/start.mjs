import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("start");
becomeScript("packages/narthex/bin/narthex.js", ["serve", "--first-session", ...process.argv.slice(2)]);
