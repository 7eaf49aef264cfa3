import { becomeScript } from "./pinned-node.mjs";
import { setUp } from "./setup.mjs";

await setUp("generate");
becomeScript("node_modules/@bufbuild/buf/bin/buf", ["generate", ...process.argv.slice(2)]);
