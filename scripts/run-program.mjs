// Must run on any Node since 16: no dependencies, no newer syntax.
import { spawn } from "node:child_process";
import { delimiter, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Runs a program and resolves with its exit status and its output. A program that cannot be started has no status. */
export function runProgram(program, programArguments, env = process.env) {
  return new Promise((resolve) => {
    const child = spawn(program, programArguments, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", () => resolve({ status: null, output }));
    child.on("close", (status) => resolve({ status, output }));
  });
}

/** The environment of the user's shell: without the folders that npm puts first on PATH for a script. */
export function withoutLocalCommands() {
  const isLocal = (folder) => folder.endsWith(join("node_modules", ".bin")) || folder.includes(`${sep}node-gyp-bin`);
  const path = (process.env.PATH || "").split(delimiter).filter((folder) => !isLocal(folder));
  return { ...process.env, PATH: path.join(delimiter) };
}

export function say(line) {
  console.error(`setup: ${line}`);
}
