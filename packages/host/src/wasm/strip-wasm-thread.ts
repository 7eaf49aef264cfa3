/** Writes the wasm host's program with types stripped: its own files, the message format and the meter. */
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { workerData } from "node:worker_threads";
import { WASM_PROGRAM } from "./wasm-program.ts";

const { to } = workerData as { readonly to: string };
const OWN = fileURLToPath(new URL("./worker/", import.meta.url));
const MESSAGES = fileURLToPath(new URL("../files/worker/", import.meta.url));
const METER = dirname(fileURLToPath(import.meta.resolve("@narthex/meter")));

writeFolder(OWN, "own");
writeFolder(MESSAGES, "messages", ["worker-message.ts"]);
writeFolder(METER, "meter");
writeFileSync(join(to, WASM_PROGRAM), 'import "./own/wasm-worker.mjs";\n');
chmodSync(join(to, WASM_PROGRAM), 0o644);

function writeFolder(from: string, name: string, files = globSync("**/*.ts", { cwd: from })): void {
  for (const file of files) {
    if (/\.(?:test|d)\.ts$|(?:^|\/)testing\//.test(file)) continue;
    const target = join(to, name, file.replace(/\.ts$/, ".mjs"));
    mkdirSync(dirname(target), { recursive: true });
    const text = stripTypeScriptTypes(readFileSync(join(from, file), "utf8"));
    writeFileSync(
      target,
      text.replaceAll(/(?<= from ")([^"]+)(?=";)/g, (path: string) => specifier(path, target)),
    );
    // Readable by other users whatever this process's umask is.
    chmodSync(target, 0o644);
  }
}

function specifier(path: string, from: string): string {
  if (path === "@narthex/meter") return below(from, "meter/index.mjs");
  if (path.endsWith("/files/worker/worker-message.ts")) return below(from, "messages/worker-message.mjs");
  return path.startsWith(".") ? path.replace(/\.ts$/, ".mjs") : path;
}

function below(from: string, file: string): string {
  const path = relative(dirname(from), join(to, file));
  return path.startsWith(".") ? path : `./${path}`;
}
