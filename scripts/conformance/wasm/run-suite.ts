import { execFileSync } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { METER_VERSION } from "@narthex/meter";
import { runScript, type ScriptEnd } from "./run-script.ts";
import { addReports, showReport } from "./script-report.ts";

const HELP = `npm run conformance:wasm -- DIR [--verbose]

Runs every *.wast below DIR, a checkout of the official WebAssembly tests (WebAssembly/spec, folder test/core, or
WebAssembly/testsuite), on plain and on metered modules, and says of each file how many of its commands passed alike,
were rejected by the meter and for which reason, could not be run, or came out different. Modules are read with
wast2json, of Debian's package wabt; forms that it cannot read are left out, and counted.

Exit codes: 0 nothing is different, 1 something is, or a run failed, 2 the command was typed wrongly.`;

/** Maximum number of problem lines shown per file. */
const MOST_SHOWN = 10;

const words = process.argv.slice(2);
const isVerbose = words.includes("--verbose");
const [directory, ...more] = words.filter((word) => word !== "--verbose");
if (directory === undefined || more.length > 0 || directory.startsWith("-")) {
  console.error(HELP);
  process.exitCode = directory === "--help" ? 0 : 2;
} else {
  // npm runs scripts in the repository, but the path is relative to the user's directory.
  process.exitCode = await runSuite(resolve(process.env["INIT_CWD"] ?? process.cwd(), directory));
}

async function runSuite(root: string): Promise<number> {
  const isDirectory = await stat(root).then(
    (facts) => facts.isDirectory(),
    () => false,
  );
  const files = isDirectory ? (await readdir(root, { recursive: true })).filter((file) => file.endsWith(".wast")) : [];
  if (files.length === 0) {
    console.error(`there are no *.wast files in \`${root}\``);
    return 2;
  }
  const spectest = assembleSpectest();
  const ends = new Map<string, ScriptEnd>();
  const queue = files.sort();
  const lane = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const end = await runScript(join(root, file), spectest);
      ends.set(file, end);
      printEnd(relative(root, join(root, file)), end);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, lane));
  return printTotal([...ends.values()]);
}

function assembleSpectest(): Uint8Array {
  const source = fileURLToPath(new URL("./spectest.wat", import.meta.url));
  return new Uint8Array(execFileSync("wat2wasm", [source, "--output=-"]));
}

function printEnd(file: string, end: ScriptEnd): void {
  if ("unreadable" in end) return console.log(`${file}: NOT READ by wast2json: ${end.unreadable}`);
  if ("failed" in end) return console.log(`${file}: FAILED: ${end.failed}`);
  const leftOut = end.leftOut === 0 ? "" : `, ${end.leftOut} forms not read by wast2json`;
  console.log(`${file}: ${showReport(end.report)}${leftOut}`);
  for (const note of end.report.different.slice(0, MOST_SHOWN)) console.log(`  DIFFERENT ${note}`);
  if (isVerbose) for (const note of end.report.alike.slice(0, MOST_SHOWN)) console.log(`  alike ${note}`);
}

function printTotal(ends: readonly ScriptEnd[]): number {
  const total = addReports(ends.flatMap((end) => ("report" in end ? [end.report] : [])));
  const count = (is: (end: ScriptEnd) => boolean) => ends.filter(is).length;
  const failed = count((end) => "failed" in end);
  const unread = count((end) => "unreadable" in end);
  const leftOut = ends.reduce((sum, end) => sum + ("report" in end ? end.leftOut : 0), 0);
  console.log(`\nmeter version ${METER_VERSION}, Node ${process.version}: ${ends.length} files`);
  console.log(
    `files: ${count((end) => "report" in end && end.leftOut === 0)} read whole, ` +
      `${count((end) => "report" in end && end.leftOut > 0)} in part, ` +
      `${unread} not read, ${failed} failed`,
  );
  console.log(`commands: ${showReport(total)}`);
  const problem =
    total.different.length > 0 || failed > 0
      ? `${total.different.length} commands are different, ${failed} files failed`
      : total.passed === 0 && "nothing could be run";
  if (problem !== false) {
    console.log(`result: FAILED: ${problem}`);
    return 1;
  }
  const silent = unread + leftOut === 0 ? "" : `; ${unread} files and ${leftOut} forms were not read, and show nothing`;
  console.log(`result: nothing is different${silent}`);
  return 0;
}
