// Must run on any Node since 16: no dependencies, no newer syntax.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { globalPaths } from "./global-prefix.mjs";
import { runProgram, say, withoutLocalCommands } from "./run-program.mjs";

const environment = withoutLocalCommands();
const [option, directory, ...rest] = process.argv.slice(2);
if (rest.length > 0 || (option && (option !== "--prefix" || !directory))) {
  console.error("usage: npm run uninstall:global [-- --prefix DIR]");
  process.exitCode = 2;
} else {
  process.exitCode = await uninstall(
    option ? [resolve(process.env.INIT_CWD || ".", directory)] : await usualPrefixes(),
  );
}

async function usualPrefixes() {
  const { output } = await runProgram("npm", ["prefix", "--global", "--loglevel=error"], environment);
  return [output.trim().split("\n").pop(), join(homedir(), ".local")];
}

/** Removes every installation below these prefixes. Resolves with the exit code. */
async function uninstall(prefixes) {
  const found = prefixes.filter((prefix) => existsSync(globalPaths(prefix).package));
  if (found.length === 0) {
    say(`narthex is not installed below ${prefixes.join(" or ")}`);
    return 1;
  }
  const removed = [];
  for (const prefix of found) {
    const words = [
      "uninstall",
      "--global",
      "--prefix",
      prefix,
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "narthex",
    ];
    const npm = await runProgram("npm", words, environment);
    const paths = globalPaths(prefix);
    if (npm.status === 0) {
      removed.push(prefix);
      console.log(`removed ${paths.command} and ${paths.package}`);
    } else {
      console.error(npm.output);
      say(`${paths.package} could not be removed: see above`);
    }
  }
  console.log("Homes such as ~/.narthex stay, and clients that were connected still name the removed program.");
  return removed.length === found.length ? 0 : 1;
}
