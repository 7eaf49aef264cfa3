import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeCommandLinePage } from "./command-line-page.ts";
import { writeConfigurationPage } from "./configuration-page.ts";

/** Writes the pages of docs/reference. `--check` writes nothing, and fails if a page is not what the sources say. */
const FOLDER = new URL("../../docs/reference/", import.meta.url);

const pages = new Map([
  ["cli.md", await writeCommandLinePage()],
  ["configuration.md", writeConfigurationPage()],
]);

if (process.argv.includes("--check")) {
  for (const [name, text] of pages) {
    if (readPage(name) === text) continue;
    console.error(`docs/reference/${name} is out of date: run \`npm run reference\``);
    process.exitCode = 1;
  }
} else {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of pages) writeFileSync(new URL(name, FOLDER), text);
}

function readPage(name: string): string {
  try {
    return readFileSync(new URL(name, FOLDER), "utf8");
  } catch {
    return "";
  }
}
