/**
 * Writes the page worker's program with types stripped, and next to it its libraries, each of which is a single file.
 */
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { workerData } from "node:worker_threads";

const { from, messages, to } = workerData as {
  readonly from: string;
  readonly messages: string;
  readonly to: string;
};
const LIBRARIES = new Map([
  ["defuddle", "defuddle.cjs"],
  ["linkedom/worker", "linkedom.mjs"],
]);

for (const name of readdirSync(from)) {
  if (name.endsWith(".ts") && !name.endsWith(".test.ts")) writeStripped(join(from, name), name);
}
writeStripped(messages, "worker-message.ts");
for (const [library, name] of LIBRARIES) {
  copyFileSync(fileURLToPath(import.meta.resolve(library)), join(to, name));
  chmodSync(join(to, name), 0o644);
}

function writeStripped(path: string, name: string): void {
  const text = stripTypeScriptTypes(readFileSync(path, "utf8"));
  const imports = text.replaceAll(/(?<= from ")([^"]+)(?=";)/g, (specifier: string) => {
    const library = LIBRARIES.get(specifier);
    if (library !== undefined) return `./${library}`;
    return specifier.replace(/^\..*\/([a-z-]+)\.ts$/, "./$1.mjs");
  });
  const target = join(to, name.replace(/\.ts$/, ".mjs"));
  writeFileSync(target, imports);
  // Readable by other users whatever this process's umask is.
  chmodSync(target, 0o644);
}
