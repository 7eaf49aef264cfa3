/** Strips the types from the worker's program. Runs in a thread, because it takes as long as starting Node. */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { workerData } from "node:worker_threads";

const { from, to } = workerData as { readonly from: string; readonly to: string };
for (const name of readdirSync(from)) {
  if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
  const text = stripTypeScriptTypes(readFileSync(join(from, name), "utf8"));
  const imports = text.replaceAll(/(?<= from "\.\/[a-z-]+)\.ts(?=";)/g, ".js");
  writeReadable(join(to, name.replace(/\.ts$/u, ".js")), imports);
}
writeReadable(join(to, "package.json"), '{ "type": "module" }\n');

function writeReadable(path: string, text: string): void {
  writeFileSync(path, text);
  // Readable for others regardless of the umask.
  chmodSync(path, 0o644);
}
