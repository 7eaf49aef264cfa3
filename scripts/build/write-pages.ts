import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";

const INSERTED = /^<!-- insert: (?<path>\S+) -->$/gm;
const RELATIVE_LINK = /\[(?<text>[^\]]+)\]\((?!https?:|#)[^)]+\)/g;

/** Writes the pages of the published package: its own README, the changelog and the license. */
export async function writePages(directory: string): Promise<void> {
  const readme = await readFile(join(REPOSITORY, "packages/narthex/README.md"), "utf8");
  await writeFile(join(directory, "README.md"), await insertExamples(readme));
  const changelog = await readFile(join(REPOSITORY, "CHANGELOG.md"), "utf8");
  // The pages that it links to are not in the package.
  await writeFile(join(directory, "CHANGELOG.md"), changelog.replaceAll(RELATIVE_LINK, "$<text>"));
  await copyFile(join(REPOSITORY, "LICENSE"), join(directory, "LICENSE"));
}

/** Inserts the code of each example where the page names it. */
async function insertExamples(page: string): Promise<string> {
  const paths = [...page.matchAll(INSERTED)].map(({ groups }) => groups?.["path"] ?? "");
  const texts = await Promise.all(paths.map((path) => readFile(join(REPOSITORY, path), "utf8")));
  let at = 0;
  return page.replaceAll(INSERTED, () => `\`\`\`ts\n${texts[at++] ?? ""}\`\`\``);
}
