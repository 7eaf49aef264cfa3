// Runs before anything is installed, on whatever Node npm runs on (16 or newer): no dependencies, no newer syntax.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { becomeScript } from "./pinned-node.mjs";
import { ROOT } from "./run-program.mjs";
import { setUp } from "./setup.mjs";

/** A package that a program imports: `ai`, `@ai-sdk/openai-compatible`. */
const IMPORTED_PACKAGE = /\bfrom "((?:@[^/"]+\/)?[^./"@:][^/":]*)"/g;

const pathOf = (name) => join("examples", name, `${name}.ts`);
const names = readdirSync(join(ROOT, "examples")).filter((name) => existsSync(join(ROOT, pathOf(name))));
const [name, ...rest] = process.argv.slice(2);
if (!names.includes(name)) {
  console.error(`usage: npm run example -- NAME\nexamples: ${names.join(", ")}`);
  process.exitCode = 2;
} else {
  await setUp("start");
  const code = readFileSync(join(ROOT, pathOf(name)), "utf8");
  const packages = Array.from(code.matchAll(IMPORTED_PACKAGE), (match) => match[1]);
  // Model clients are development packages.
  if (!packages.every((used) => existsSync(join(ROOT, "node_modules", used)))) await setUp("example");
  becomeScript(pathOf(name), rest);
}
